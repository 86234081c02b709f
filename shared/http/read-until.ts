/** Waiting for a change that somebody else makes, for callers that would otherwise poll. */
import type { World } from '../world.ts'

const everySeconds = 1

/** Reads once a second until `isDone`, for at most this many seconds; returns what was read last. */
export async function readUntil<Value>(
  { pause, now }: Pick<World, 'pause' | 'now'>,
  seconds: number,
  read: () => Promise<Value>,
  isDone: (value: Value) => boolean,
): Promise<Value> {
  const end = now().getTime() + seconds * 1_000
  let value = await read()
  // A look can take longer than a second.
  for (
    let left = seconds;
    left > 0 && now().getTime() < end && !isDone(value);
    left -= everySeconds
  ) {
    await pause(everySeconds * 1_000)
    value = await read()
  }
  return value
}
