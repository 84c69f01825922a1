#!/usr/bin/env node
import { VERSION } from "./version.ts";

// Answered before anything else is loaded: scripts ask for the version again and again.
if (process.argv.length === 3 && process.argv[2] === "--version") {
  process.stdout.write(`${VERSION}\n`);
} else {
  import("./start.ts").then(
    ({ start }) => start(),
    (error: unknown) => {
      process.stderr.write(`rookery: the program is not whole: ${String(error)}; install it again\n`);
      process.exit(1);
    },
  );
}
