/**
 * True when bytes are printable ASCII, newlines and tabs and nothing else: text that can be shown as it is.
 *
 * Every byte a command prints comes through here. Sixteen at a time, which no JavaScript can look at, many bytes take an
 * eighth of the time.
 */
export function isPlainAscii(bytes: Uint8Array): boolean {
  if (bytes.length < MANY_BYTES) return bytes.every(isPlain);
  theScanner ??= openScanner();
  return theScanner(bytes);
}

const MANY_BYTES = 1024;
const NEWLINE = 0x0a;
const TAB = 0x09;

function isPlain(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === NEWLINE || byte === TAB;
}

type Scanner = (bytes: Uint8Array) => boolean;

let theScanner: Scanner | undefined;

/** Without WebAssembly (`node --jitless`) the slow way. */
function openScanner(): Scanner {
  const { WebAssembly: engine } = globalThis as { readonly WebAssembly?: Engine };
  if (engine === undefined) return (bytes) => bytes.every(isPlain);
  const { exports } = new engine.Instance(new engine.Module(Buffer.from(MODULE.replaceAll(/\s/g, ""), "hex")));
  const memory = new Uint8Array(exports.memory.buffer);
  return (bytes) => {
    for (let at = 0; at < bytes.length; at += memory.length) {
      const part = bytes.subarray(at, at + memory.length);
      memory.set(part);
      // The last sixteen are whole, and what was there before has no say.
      memory.fill(NEWLINE, part.length, part.length + 15);
      if (exports.isPlain(part.length) === 0) return false;
    }
    return true;
  };
}

/** As much of it as is used here: neither the language's library nor Node's types have it. */
interface Engine {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => {
    readonly exports: { readonly memory: { readonly buffer: ArrayBuffer }; isPlain(end: number): number };
  };
}

/**
 * (module
 *   (memory (export "memory") 2)
 *   (func (export "isPlain") (param $end i32) (result i32)
 *     (local $at i32) (local $bytes v128) (local $others v128)
 *     (loop $next
 *       (local.set $others (v128.or (local.get $others) (v128.and
 *         (i8x16.gt_u
 *           (i8x16.sub (local.tee $bytes (v128.load (local.get $at))) (i8x16.splat (i32.const 0x20)))
 *           (i8x16.splat (i32.const 0x5e)))
 *         (i8x16.gt_u
 *           (i8x16.sub (local.get $bytes) (i8x16.splat (i32.const 0x09)))
 *           (i8x16.splat (i32.const 0x01))))))
 *       (br_if $next
 *         (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
 *     (i32.eqz (v128.any_true (local.get $others)))))
 */
const MODULE = `
  0061736d 01000000 0106 01 60017f017f 0302 0100 0503 010002
  0714 02 066d656d6f7279 0200 076973506c61696e 0000
  0a47 01 45 02 017f 027b 0340
    2003 2001 fd000400 2202 4120 fd0f fd71 41de00 fd0f fd28
    2002 4109 fd0f fd71 4101 fd0f fd28 fd4e fd50 2103
    2001 4110 6a 2201 2000 49 0d00 0b
    2003 fd53 45 0b`;
