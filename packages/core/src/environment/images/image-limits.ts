/** The largest image that models are sent, in bytes. */
export const MAX_IMAGE_BYTES: number = 5 * 1024 * 1024;

/** The longest side of an image that models are sent, in pixels: some services refuse longer ones. */
export const MAX_IMAGE_SIDE_PIXELS = 8000;

/** Why an image was refused. @param bytes - Absent where reading stopped at the limit. */
export function describeTooLarge(bytes?: number): string {
  const size = bytes === undefined ? "more than 5 MiB" : `${bytes} bytes, over 5 MiB`;
  return `it has ${size}, which is too large to be sent to a model; make it smaller with the shell`;
}
