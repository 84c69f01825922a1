import { expect, test } from "vitest";
import { sharedLook } from "./process-list.ts";

test("those who ask while somebody looks share the next look, which begins after they asked", async () => {
  const ends: (() => void)[] = [];
  let looks = 0;
  const look = sharedLook(async () => {
    looks += 1;
    const mine = looks;
    await new Promise<void>((resolve) => ends.push(resolve));
    return mine;
  });
  const first = look();
  await expect.poll(() => looks).toBe(1);
  const [second, third] = [look(), look()];
  ends.shift()?.();
  expect(await first).toBe(1);
  await expect.poll(() => looks).toBe(2);
  ends.shift()?.();
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test("a look that fails does so for those who asked for it, and not for the next", async () => {
  let fails = true;
  const look = sharedLook(async () => {
    if (fails) throw new Error("no");
    return "yes";
  });
  await expect(look()).rejects.toThrow("no");
  fails = false;
  expect(await look()).toBe("yes");
});
