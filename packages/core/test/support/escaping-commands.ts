import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Shell commands that go on in a prepared workspace, half of them in a process that left the group. */
export function escapingCommands(count: number): string[] {
  return Array.from({ length: count }, (_, n) => {
    const work = `sh work.sh ${n}`;
    const begun = `until test -e pids/${n}; do sleep 0.05; done`;
    const ways = [
      work,
      `setsid ${work} & wait`,
      `exec ${work}`,
      `nohup setsid ${work} >/dev/null 2>&1 & ${begun}`,
      `${work} & wait`,
      `(setsid sh -c '${work} &' &); ${begun}`,
    ];
    return ways[n % ways.length] ?? work;
  });
}

/** Writes what the commands run: each puts its pid into `pids/<n>` and goes on. */
export function prepareEscapingCommands(workspaceDir: string): void {
  mkdirSync(join(workspaceDir, "pids"));
  writeFileSync(
    join(workspaceDir, "work.sh"),
    "echo $$ > pids/$1.part\nmv pids/$1.part pids/$1\nexec sleep 300 </dev/null >/dev/null 2>&1\n",
  );
}

/** The pids written so far. */
export function writtenPids(workspaceDir: string): number[] {
  const directory = join(workspaceDir, "pids");
  const names = readdirSync(directory).filter((name) => /^\d+$/.test(name));
  return names.map((name) => Number(readFileSync(join(directory, name), "utf8")));
}
