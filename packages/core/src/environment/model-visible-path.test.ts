import { expect, test } from "vitest";
import { modelVisiblePath } from "./model-visible-path.ts";

test("on Windows a path is written with forward slashes (PT-050, PT-053)", () => {
  expect(modelVisiblePath("C:\\Users\\ann\\my app\\a.txt", "win32")).toBe("C:/Users/ann/my app/a.txt");
});

test("on Windows a path never carries the \\\\?\\ prefix (PT-051)", () => {
  expect(modelVisiblePath("\\\\?\\C:\\data\\a.log", "win32")).toBe("C:/data/a.log");
  expect(modelVisiblePath("\\\\?\\UNC\\server\\share\\a.log", "win32")).toBe("//server/share/a.log");
});

test("on POSIX a path is unchanged, backslashes included (PT-050)", () => {
  for (const platform of ["linux", "darwin"] as const) {
    expect(modelVisiblePath("/tmp/odd\\name/\\\\?\\x", platform)).toBe("/tmp/odd\\name/\\\\?\\x");
  }
});
