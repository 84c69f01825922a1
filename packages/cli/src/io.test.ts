import { expect, test, vi } from "vitest";
import { processIo } from "./io.ts";

test("in a directory that somebody has removed the program says so", () => {
  const cwd = vi.spyOn(process, "cwd").mockImplementation(() => {
    throw Object.assign(new Error("ENOENT: no such file or directory, uv_cwd"), { code: "ENOENT" });
  });
  expect(() => processIo()).toThrow("the current directory does not exist any more; change to one that does");
  cwd.mockRestore();
});
