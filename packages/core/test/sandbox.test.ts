import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

import { createSandbox } from "../src/environment/sandbox/sandbox.ts";
import { canConfine, SANDBOX, sandboxed } from "./support/sandboxed.ts";

describe.skipIf(!canConfine)(SANDBOX, () => {
  test("a command writes to the workspace, the scratchpad and a private /tmp that later commands share", async () => {
    const { place, sh } = sandboxed();
    const name = `shared-${process.pid}`;
    expect(await sh(`echo a > a && echo b > ${place.scratchpadDir}/b && echo c > /tmp/${name}`)).toMatchObject({
      text: "",
      exitCode: 0,
    });
    expect(readFileSync(join(place.workspaceDir, "a"), "utf8")).toBe("a\n");
    expect(readFileSync(join(place.scratchpadDir, "b"), "utf8")).toBe("b\n");
    expect(existsSync(`/tmp/${name}`)).toBe(false);
    expect((await sh(`cat /tmp/${name}; mktemp >/dev/null && echo x > /dev/shm/x && echo free`)).text).toBe(
      "c\nfree\n",
    );
    expect(existsSync("/dev/shm/x")).toBe(false);
  });

  test("read-only leaves the scratchpad and the private /tmp", async () => {
    const { place, sh } = sandboxed({ mode: "read-only" });
    const { text } = await sh(
      `touch a 2>&1; touch ${place.scratchpadDir}/b && touch /tmp/c && echo fine; ls ${place.workspaceDir}`,
    );
    expect(text).toMatch(/a.*Read-only file system\nfine\n$/);
  });

  test.each(["read-only", "workspace-write"] as const)(
    "in %s, file tools may write exactly where commands can",
    async (mode) => {
      const { place, outside, sandbox, sh } = sandboxed({ mode }, { workspace: "." });
      const directories = [".", "src", ".git", ".git/hooks", ".git/objects", "home", "home/data", "home/data/project"];
      const memory = join(place.dataRoot, "project", "memory");
      const paths = [
        ...directories.map((path) => join(outside, path)),
        place.scratchpadDir,
        memory,
        "/etc",
        "/usr",
        "/var/tmp",
      ];
      for (const path of paths) mkdirSync(path, { recursive: true });
      const { text } = await sh(
        `for path in ${paths.join(" ")}; do touch $path/probe 2>/dev/null && echo $path; done; true`,
      );
      const allowed = paths.filter((path) => sandbox.writeProblem(join(realpathSync(path), "probe")) === undefined);
      expect(text.split("\n").filter(Boolean)).toEqual(allowed);
      expect(allowed).toHaveLength(mode === "read-only" ? 1 : 6);
    },
  );

  test("nothing outside is written: by absolute paths, links, .., hard links, /proc or new mounts", async () => {
    const { outside, place, sh } = sandboxed();
    symlinkSync(outside, join(place.workspaceDir, "link"));
    const target = join(outside, "untouched");
    const before = readdirSync(outside);
    const { text } = await sh(`
      exec 2>/dev/null
      attempt() { "$@" && echo "escaped: $*"; }
      attempt cp /etc/hostname ${target}
      attempt cp /etc/hostname ../untouched
      attempt cp /etc/hostname link/untouched
      attempt rm -f link/untouched
      attempt ln ${target} hard
      attempt mv ${outside}/home ${outside}/moved
      attempt touch /etc/escaped /usr/escaped /sys/escaped /proc/1/root${outside}/escaped
      attempt touch /proc/self/root${outside}/escaped
      for root in /proc/[0-9]*/root /proc/[0-9]*/cwd; do attempt cp /etc/hostname $root${target}; done
      attempt sh -c 'cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern'
      attempt sh -c 'echo h > /proc/sysrq-trigger'
      attempt mount -o remount,rw /
      attempt umount -l /tmp
      attempt unshare -Urm sh -c 'mount -o remount,rw,bind / && touch ${outside}/escaped'
      attempt unshare -m touch ${outside}/escaped
      attempt mknod disk b 254 0
      attempt chroot / touch ${outside}/escaped
      attempt nsenter -t 1 -m touch ${outside}/escaped
      for way in link/* /proc/self/cwd/../untouched; do attempt sh -c "echo x > $way"; done
      echo tried`);
    expect(text).toBe("tried\n");
    expect(readdirSync(outside)).toEqual(before);
    expect(readFileSync(target, "utf8")).toBe("as it was\n");
  });

  test("the harness's secret files cannot be read, and its directory cannot be written, moved or replaced", async () => {
    // The workspace holds it, as a home directory does.
    const { outside, place, sh } = sandboxed({}, { workspace: "." });
    const [config = "", project = ""] = place.protectedPaths;
    symlinkSync(config, join(outside, "harmless"));
    const module = join(outside, ".git", "modules", "m");
    mkdirSync(module, { recursive: true });
    writeFileSync(join(module, "HEAD"), "");
    symlinkSync(config, join(module, "config"));
    const { text } = await sh(`
      for path in ${config} ${project} harmless home/data/config.yaml /proc/self/root${config} /proc/1/root${config}; do
        cat $path
      done
      cat home/data/*.yaml home/data/*/*.yaml .git/modules/m/config
      mv home elsewhere; mv home/data home/other; rm -rf home/data; touch home/data/x home/data/project/x
      echo 'native_agents: {}' > home/data/config.yaml
      rm -rf ${place.scratchpadDir}/tmp; ln -sT ${outside}/home ${place.scratchpadDir}/tmp
      echo ended`);
    expect(text).not.toContain("the-key");
    expect(text).toMatch(/ended\n$/);
    expect(readdirSync(join(outside, "home", "data")).sort()).toEqual(["config.yaml", "project"]);
    expect(readFileSync(config, "utf8")).toBe("api_key: the-key\n");
    expect((await sh("touch /tmp/x && echo works")).text).toBe("works\n");
    expect(existsSync(join(outside, "home", "x"))).toBe(false);
  });

  test("a secret file that is replaced while a command runs stays hidden from it", async () => {
    const { place, commands } = sandboxed();
    const [config = ""] = place.protectedPaths;
    const env = { PATH: process.env.PATH ?? "" };
    const args = ["-c", `echo ready; read line; cat ${config} ${config}.new; echo done`];
    const running = commands.run({ file: "/bin/bash", args, cwd: place.workspaceDir, env, input: "pipe" });
    let text = "";
    for await (const chunk of running.output) {
      text += chunk.text;
      if (chunk.text !== "ready\n") continue;
      writeFileSync(`${config}.new`, "api_key: a-new-key\n");
      renameSync(`${config}.new`, config);
      (await running.started)?.write("go\n");
    }
    expect(text).toContain("done\n");
    expect(text).not.toContain("new-key");
  });

  test("what else a program protects is hidden, a file in the workspace and a whole directory", async () => {
    const { place, outside } = sandboxed();
    mkdirSync(join(place.workspaceDir, "keys"));
    for (const path of ["keys/a", "secret"]) writeFileSync(join(place.workspaceDir, path), "the-key");
    const protectedPaths = ["keys", "secret", "not-there"].map((name) => join(place.workspaceDir, name));
    const sandbox = createSandbox({ mode: "workspace-write", network: "off" }, { ...place, protectedPaths });
    const script =
      "cat keys/a secret; mv secret s2; mv keys k2; cat s2 k2/a; ln secret s3; cat s3; echo x > secret; echo ended";
    const [file = "", ...args] = sandbox?.confine(["sh", "-c", script], { cwd: place.workspaceDir, env: {} }) ?? [];
    const output = execFileSync(file, args, { encoding: "utf8", stdio: "pipe", cwd: outside });
    expect(output).toBe("ended\n");
    expect(readFileSync(join(place.workspaceDir, "secret"), "utf8")).toBe("the-key");
  });

  test("hooks and configuration of git stay as they are, and work with git goes on", async () => {
    const { place, sh } = sandboxed();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: place.workspaceDir, stdio: "pipe" });
    git("init", "-q");
    git("config", "user.name", "A");
    git("config", "user.email", "a@example.com");
    const module = join(place.workspaceDir, ".git", "modules", "libs", "m");
    mkdirSync(module, { recursive: true });
    for (const name of ["HEAD", "config"]) writeFileSync(join(module, name), "");
    const config = readFileSync(join(place.workspaceDir, ".git", "config"), "utf8");
    const hooks = readdirSync(join(place.workspaceDir, ".git", "hooks"));
    const { text } = await sh(`
      exec 2>/dev/null
      attempt() { "$@" && echo "escaped: $*"; }
      attempt cp /bin/true .git/hooks/post-commit
      attempt mv .git/hooks .git/old
      attempt git config core.pager evil
      attempt git config core.hooksPath .
      attempt cp /bin/true .git/config
      attempt rm -f .git/config
      attempt mv .git .git2
      attempt mv .git/modules .git/m2
      attempt cp /bin/true .git/modules/libs/m/hooks/post-checkout
      attempt cp /bin/true .git/modules/libs/m/config
      echo x > x && git add x && git commit -qm one && git checkout -q -b other && git log --format=%s`);
    expect(text).toBe("one\n");
    expect(readFileSync(join(place.workspaceDir, ".git", "config"), "utf8")).toBe(config);
    expect(readdirSync(join(place.workspaceDir, ".git", "hooks"))).toEqual(hooks);
    expect(readdirSync(join(module, "hooks"))).toEqual([]);
  });

  test("a repository without hooks gets no hooks, and the file of a worktree stays", async () => {
    const bare = sandboxed();
    mkdirSync(join(bare.place.workspaceDir, ".git"));
    expect((await bare.sh("mkdir -p .git/hooks; touch .git/hooks/x; echo x > .git/config")).text).toMatch(/Read-only/);
    const worktree = sandboxed();
    const file = join(worktree.place.workspaceDir, ".git");
    writeFileSync(file, "gitdir: /elsewhere\n");
    await worktree.sh("echo gitdir: evil > .git; rm -f .git; mv .git x");
    expect(readFileSync(file, "utf8")).toBe("gitdir: /elsewhere\n");
  });

  test("configuration of worktrees that git would read and nobody has written yet cannot be put there", async () => {
    const { place, sh } = sandboxed();
    const git = join(place.workspaceDir, ".git");
    mkdirSync(join(git, "worktrees", "w"), { recursive: true });
    writeFileSync(join(git, "config"), "[extensions]\n\tworktreeConfig = true\n");
    await sh("echo evil > .git/config.worktree; echo evil > .git/worktrees/w/config.worktree");
    expect(readFileSync(join(git, "config.worktree"), "utf8")).toBe("");
    expect(readFileSync(join(git, "worktrees", "w", "config.worktree"), "utf8")).toBe("");
  });

  test.each(["hooks", "config"])("where a link stands for %s, all of the repository is read-only", async (name) => {
    const { place, sandbox, sh } = sandboxed();
    const target = join(place.workspaceDir, "elsewhere");
    mkdirSync(join(place.workspaceDir, ".git"));
    mkdirSync(target);
    symlinkSync("../elsewhere", join(place.workspaceDir, ".git", name));
    const { text } = await sh(`
      rm .git/${name}; touch .git/x; mv .git .g; touch elsewhere/pre-commit; mv elsewhere e
      readlink .git/${name}; touch y && ls elsewhere .`);
    expect(text).toMatch(/\n\.\.\/elsewhere\n\.:\nelsewhere\ny\n\nelsewhere:\n$/);
    expect(sandbox.writeProblem(join(realpathSync(target), "pre-commit"))).toContain(
      "keeps hooks and configuration of git",
    );
  });

  test("without a network no address is reached, and neither are sockets of the machine", async () => {
    const { outside, sh } = sandboxed();
    const tcp = await listening(
      createServer((socket) => socket.end("reached\n")),
      { port: 0, host: "127.0.0.1" },
    );
    const socket = join(outside, "s");
    await listening(
      createServer((one) => one.end("reached\n")),
      { path: socket },
    );
    const { port } = tcp.address() as { port: number };
    const connect = `node -e 'require("net").connect(process.argv[1]).on("data", d => console.log(String(d))).on("error", e => console.log(e.code))'`;
    const { text } = await sh(`
      (exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3) 2>/dev/null
      ${connect} ${socket}
      find /run -type s -o -type f; ls -A /run/user 2>/dev/null; echo tried`);
    expect(text).not.toContain("reached");
    expect(text).toMatch(/EACCES|ECONNREFUSED|ENOENT/);
    expect(text).toMatch(/tried\n$/);
    const open = sandboxed({ network: "on" });
    expect((await open.sh(`exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`)).text).toBe("reached\n");
  });

  test("nothing outside is seen, signalled or traced, and nothing outlives its command", async () => {
    const { place, sh } = sandboxed();
    const escapee = `env -i setsid sh -c 'exec 1>&- 2>&-; (exec sleep 300) & sleep 300' &`;
    const { text, exitCode } = await sh(`
      (${escapee}) ; env -i sleep 300 &
      echo $$ > pid
      kill -9 ${process.pid} ${process.ppid} 2>/dev/null && echo signalled
      cat /proc/${process.pid}/environ 2>/dev/null | grep -q PATH && echo seen
      ls /proc | grep -c '^[0-9]'
      env | grep -E '^(SSH_AUTH_SOCK|DBUS_|XDG_RUNTIME)'
      grep -E 'NoNewPrivs|CapEff' /proc/self/status | tr -d '\\t'
      trap '' TERM; kill -TERM -1; kill -9 -1 2>/dev/null; echo after`);
    expect(text).toMatch(/^\d\n/);
    expect(text).toContain("NoNewPrivs:1\n");
    expect(text).not.toMatch(/signalled|seen|CapEff:(?!000000000000000[02])/);
    expect(exitCode).toBe(0);
    expect(sleepers(place.workspaceDir)).toEqual([]);
  });

  test("an interrupted command may clean up within its grace, and takes with it what cleared its environment", async () => {
    const { place, commands } = sandboxed();
    const args = [
      "-c",
      "trap 'echo cleaned; exit 3' TERM; (env -i setsid sleep 300 &); while :; do echo ready; sleep 0.05; done",
    ];
    const running = commands.run({
      file: "/bin/bash",
      args,
      cwd: place.workspaceDir,
      env: { PATH: process.env.PATH ?? "" },
    });
    let text = "";
    for await (const chunk of running.output) {
      if (text === "") void running.stop();
      text += chunk.text;
    }
    expect(await running.ended).toMatchObject({ outcome: "aborted", exitCode: 3 });
    expect(text).toMatch(/cleaned\n$/);
    expect(sleepers(place.workspaceDir)).toEqual([]);
  });

  test("at the deadline everything is killed at once; Ctrl-C reaches the program itself", async () => {
    const { place, commands } = sandboxed();
    const env = { PATH: process.env.PATH ?? "" };
    const stubborn = commands.run({
      file: "/bin/bash",
      args: ["-c", "trap '' TERM INT; while :; do sleep 1; done"],
      cwd: place.workspaceDir,
      env,
      deadlineMs: 200,
    });
    expect((await stubborn.ended).outcome).toBe("timed-out");
    const polite = commands.run({
      file: "/bin/bash",
      args: ["-c", "trap 'echo interrupted; exit 4' INT; while :; do echo ready; sleep 0.05; done"],
      cwd: place.workspaceDir,
      env,
    });
    let text = "";
    for await (const chunk of polite.output) {
      if (text === "") void polite.interrupt();
      text += chunk.text;
    }
    expect(text).toMatch(/interrupted\n$/);
    expect(await polite.ended).toMatchObject({ outcome: "exited", exitCode: 4 });
  });

  test("it ends when whoever started it is killed", async () => {
    const { place, sandbox } = sandboxed();
    const argv = sandbox.confine(["/bin/sh", "-c", "echo up; exec env -i sleep 300"], {
      cwd: place.workspaceDir,
      env: {},
    });
    const parent = spawn("/bin/sh", ["-c", '"$@" & wait', "sh", ...argv], { stdio: ["ignore", "pipe", "ignore"] });
    await once(parent.stdout, "data");
    parent.kill("SIGKILL");
    // The sleeping program holds the pipe as long as it lives.
    await once(parent, "close");
    expect(sleepers(place.workspaceDir)).toEqual([]);
  });

  test("exit codes and signals come out", async () => {
    const { sh } = sandboxed();
    expect((await sh("exit 7")).exitCode).toBe(7);
    expect(await sh("exit 129")).toMatchObject({ exitCode: 129, signal: null });
    expect(await sh("kill -9 $$")).toMatchObject({ exitCode: null, signal: "SIGKILL" });
    expect((await sh("exec no-such-program")).exitCode).toBe(127);
  });
});

function listening(server: Server, where: object): Promise<Server> {
  onTestFinished(() => void server.close());
  return new Promise((resolve) => server.listen(where, () => resolve(server)));
}

/** Processes that still work in a directory. */
function sleepers(directory: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/cwd`) === directory;
    } catch {
      return false;
    }
  });
}
