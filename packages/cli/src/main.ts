#!/usr/bin/env node
import { VERSION } from "./version.ts";

// Answered before anything else is loaded: scripts ask for the version again and again.
if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(141);
    process.stderr.write(`rookery: cannot write to standard output: ${code}; make room, or send it elsewhere\n`);
    process.exit(1);
  });
  process.stdout.write(`${VERSION}\n`);
} else {
  import("./start.ts")
    .then(({ start }) => start())
    .catch((error: unknown) => {
      process.stderr.write(`rookery: ${error instanceof Error ? error.message : error}\n`);
      process.exit(1);
    });
}
