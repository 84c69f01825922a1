/**
 * A generator whose `return` interrupts what it waits for. An async generator by itself takes note of `return` only when
 * its current step has settled, which may be never.
 */
export function interruptible<T, R>(generator: AsyncGenerator<T, R>, interrupt: () => void): AsyncGenerator<T, R> {
  return {
    next: () => generator.next(),
    return(value) {
      interrupt();
      return generator.return(value);
    },
    throw(error) {
      interrupt();
      return generator.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return(undefined as R);
    },
  };
}
