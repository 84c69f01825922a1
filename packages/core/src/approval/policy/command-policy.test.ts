import fc from "fast-check";
import { expect, test } from "vitest";
import { type CommandPolicy, forbiddingRule, policyRules } from "./command-policy.ts";
import { FACTORY_RULES } from "./factory-rules.ts";

const forbiddenBy = (command: string, policy?: CommandPolicy): string | undefined =>
  forbiddingRule(policy, command)?.name;

test.each([
  ["rm -rf /", "rm-recursive-force"],
  ["sudo rm -fr ~", "rm-recursive-force"],
  ["cd x && /bin/rm -r -f y", "rm-recursive-force"],
  ["rm --force --recursive x", "rm-recursive-force"],
  ["rm x -Rf", "rm-recursive-force"],
  ["r''m -rf x", "rm-recursive-force"],
  ["\\rm -r\\f x", "rm-recursive-force"],
  ["rm   \\\n  -rf x", "rm-recursive-force"],
  ['bash -c "rm -rf x"', "rm-recursive-force"],
  ["mkfs.ext4 /dev/sda1", "mkfs"],
  ["sudo mkfs -t xfs /dev/sdb", "mkfs"],
  ["dd if=/dev/zero of=/dev/sda bs=1M", "dd-to-device"],
  ["dd of=/dev/nvme0n1 if=x", "dd-to-device"],
  [":(){ :|:& };:", "fork-bomb"],
  ["bomb() { bomb | bomb & }; bomb", "fork-bomb"],
  ["echo x > /dev/sda", "redirect-to-device"],
  ["echo x >& /dev/sda", "redirect-to-device"],
  ["cat x >/dev/mmcblk0", "redirect-to-device"],
  ["rd /s /q C:\\Users", "windows-recursive-delete"],
  ["del /f /s *.doc", "windows-recursive-delete"],
  ["Remove-Item C:\\x -Recurse -Force", "windows-recursive-delete"],
  ["format C: /q", "windows-format"],
  ["Format-Volume -DriveLetter D", "windows-format"],
  ["type x > \\\\.\\PhysicalDrive0", "windows-raw-disk"],
  ["Clear-Disk 1", "windows-raw-disk"],
  ["%0|%0", "windows-fork-bomb"],
])("%j is forbidden by %s", (command, name) => {
  expect(forbiddenBy(command)).toBe(name);
});

test.each([
  "rm -r x",
  "rm -f x",
  "rm --force x",
  "rm -f x; ls -r",
  "rm -f x\nls -r",
  "rmdir x/s",
  "docker run --rm -f x -r",
  "git rm-cached -rf",
  "man mkfs",
  "dd if=/dev/sda of=disk.img",
  "dd of=/dev/null if=x",
  "echo x >/dev/null 2>/dev/stderr",
  "git log --format=x c:",
  "npm run format src",
  "del /q x",
  `format ${"/a".repeat(200)}`,
  "f() { g | g; }; f",
  "\x03",
  "",
])("%j is not forbidden", (command) => {
  expect(forbiddenBy(command)).toBeUndefined();
});

test("without rules of its own a project has the factory's nine, with an empty list none", () => {
  expect(policyRules()).toHaveLength(9);
  expect(policyRules({ enabled: true })).toHaveLength(9);
  expect(policyRules({ rules: [] })).toEqual([]);
  expect(policyRules({ enabled: false })).toEqual([]);
});

test("own rules stand in place of the factory's, the first that is met decides, one that is off does not", () => {
  const rules = [
    { name: "off", pattern: "push", enabled: false },
    { name: "push", pattern: "git push\\b" },
    { name: "force", pattern: "--force" },
  ];
  expect(forbiddenBy("GIT   PUSH --force", { rules })).toBe("push");
  expect(forbiddenBy("x --force", { rules })).toBe("force");
  expect(forbiddenBy("rm -rf /", { rules })).toBeUndefined();
});

test("a pattern that does not come to an end counts as met", () => {
  const rules = [{ name: "slow", pattern: "^(a+)+$" }];
  expect(forbiddenBy(`${"a".repeat(40)}!`, { rules })).toBe("slow");
});

test("a megabyte of text is decided on", () => {
  expect(forbiddenBy(`echo ${"x ".repeat(500_000)}`)).toBeUndefined();
  expect(forbiddenBy(`${"x ".repeat(500_000)}; rm -rf y`)).toBe("rm-recursive-force");
});

test("a short command meets the same rules whether the time is watched, as with own rules, or not", () => {
  const own = FACTORY_RULES.map((rule) => ({ ...rule }));
  const words = "rm -rf -r -f mkfs > /dev/sda dd of=/dev/sda ; '  x a(){ format c:".split(" ");
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words), { maxLength: 12 }), (parts) => {
      const command = parts.join(" ");
      expect(forbiddenBy(command)).toBe(forbiddenBy(command, { rules: own }));
    }),
  );
});
