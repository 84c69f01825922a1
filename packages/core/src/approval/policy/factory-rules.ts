import type { PolicyRule } from "./command-policy.ts";

/** What stands before the name of a program, so that it is no part of another word. */
const PROGRAM = String.raw`(?<![\w.-])`;
/** The rest of one command. */
const REST = String.raw`[^;&|\n]*`;
const BLOCK_DEVICE = String.raw`/dev/(?:[hsv]d[a-z]|xvd|nvme|mmcblk|r?disk\d|disk/|loop\d|md\d|dm-|mapper/|nbd\d|zram|sr\d)`;

/** The command policy of a project that has none of its own: commands whose damage nothing undoes. */
export const FACTORY_RULES: readonly PolicyRule[] = [
  {
    name: "rm-recursive-force",
    description: "rm that deletes directories without asking",
    pattern: String.raw`${PROGRAM}rm(?=\s)(?=${REST}\s(?:-[a-z]*r|--r))(?=${REST}\s(?:-[a-z]*f|--f))`,
  },
  {
    name: "mkfs",
    description: "a new file system over what a device holds",
    pattern: String.raw`${PROGRAM}mkfs(?:\.\w+)?(?=\s)`,
  },
  {
    name: "dd-to-device",
    description: "dd that writes to a block device",
    pattern: String.raw`${PROGRAM}dd(?=\s)${REST}\sof=${BLOCK_DEVICE}`,
  },
  {
    name: "fork-bomb",
    description: "a function that starts itself twice over",
    pattern: String.raw`(?<![\w:])([\w:]{1,64})\s*\(\s*\)\s*\{\s*\1\s*\|\s*\1\s*&\s*;?\s*\}\s*;?\s*\1`,
  },
  {
    name: "redirect-to-device",
    description: "output that is written to a block device",
    pattern: String.raw`>[|&]?\s*${BLOCK_DEVICE}`,
  },
  {
    name: "windows-recursive-delete",
    description: "rd or del with /s, Remove-Item with -Recurse and -Force",
    pattern: String.raw`${PROGRAM}(?:(?:rd|rmdir|del|erase)(?=\s)${REST}\s/s(?=\s|/|$)|Remove-Item(?=${REST}\s-r)(?=${REST}\s-fo))`,
  },
  {
    name: "windows-format",
    description: "format of a volume",
    pattern: String.raw`${PROGRAM}(?:format(?:\.com)?(?:\s/\S+)*\s[a-z]:(?=[\s\\/]|$)|Format-Volume\b)`,
  },
  {
    name: "windows-raw-disk",
    description: "a disk past its file system",
    pattern: String.raw`[\\/]{2,}\.[\\/]+PhysicalDrive\d|${PROGRAM}Clear-Disk\b`,
  },
  {
    name: "windows-fork-bomb",
    description: "a batch file that starts itself twice over",
    pattern: String.raw`%0\s*\|\s*%0`,
  },
];
