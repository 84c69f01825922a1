import assert from "node:assert/strict";
import { test } from "node:test";
import { slug } from "../src/slug.js";

test("words are joined by hyphens", () => {
  assert.equal(slug("How rooks nest"), "how-rooks-nest");
});

test("accents are dropped", () => {
  assert.equal(slug("Café Übung"), "cafe-ubung");
});

test("signs leave nothing behind", () => {
  assert.equal(slug("Rooks, crows & ravens!"), "rooks-crows-ravens");
});

test("a title without words is empty", () => {
  assert.equal(slug(" - "), "");
});
