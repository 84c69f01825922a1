import { expect, test } from "vitest";
import { userData, userImage, userText } from "../omnimessage/build.ts";
import { checkInput } from "./session-input.ts";

const NEITHER = "[an image could not be sent: it is neither an http(s) address nor a base64 data URL]";

test.each([
  ["ftp://x.test/y.png", NEITHER],
  ["/tmp/y.png", NEITHER],
  ["", NEITHER],
  ["data:image/png;base64,", "[an image could not be sent: it is empty]"],
  ["data:image/png;base64,AAAA", "[an image could not be sent: it is no png, jpeg, gif or webp image]"],
  ["data:image/png;base64,***", "[an image could not be sent: its base64 cannot be decoded]"],
  [
    "data:image/bmp;base64,AAAA",
    "[an image could not be sent: the type image/bmp is not one of png, jpeg, gif and webp]",
  ],
])("the image %j is refused at the door, beside a text too", (url, why) => {
  expect(() => checkInput([userText("look"), userImage(url)])).toThrow(
    expect.objectContaining({
      code: "input-empty",
      message: `the input holds an image without content: ${why}`,
      hint: "pass an http(s) address or a base64 data URL of a png, jpeg, gif or webp image",
    }),
  );
});

test("text, images by address or as data, and data are input", () => {
  checkInput([userText("look"), userImage("https://x.test/y.png"), userImage("data:image/png;base64,iVBORw0KGgo=")]);
  checkInput([userData("AQI=", "application/pdf")]);
});

test.each([
  ["a list of strings", ["text"], "the input holds what is no message: the message must be an object"],
  ["an object that is none", [{}], "the input holds what is no message"],
  ["a text without its text", [{ ...userText(""), payload: { type: "text", role: "user" } }], "payload.text"],
  ["nothing", undefined, "the input is undefined, not a list of messages"],
  ["a text alone", "text", "the input is string, not a list of messages"],
])("%s is refused in words", (_, input, words) => {
  const refused = expect.objectContaining({ code: "input-empty", message: expect.stringContaining(words) });
  expect(() => checkInput(input as never)).toThrow(refused);
});
