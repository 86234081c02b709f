/** Waiting for a change that somebody else makes, for callers that would otherwise poll. */
import type { World } from '../world.ts'

const everyMilliseconds = 1_000

/** Reads once a second until `isDone`, for at most this many seconds; returns what was read last. */
export async function readUntil<Value>(
  { pause }: Pick<World, 'pause'>,
  seconds: number,
  read: () => Promise<Value>,
  isDone: (value: Value) => boolean,
): Promise<Value> {
  let value = await read()
  for (let left = seconds; left > 0 && !isDone(value); left -= 1) {
    await pause(everyMilliseconds)
    value = await read()
  }
  return value
}
