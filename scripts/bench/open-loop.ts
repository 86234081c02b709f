/** Sends requests at a steady rate, however long earlier ones take, like many independent people. */
import { setTimeout as pause } from 'node:timers/promises'

const lookEveryMilliseconds = 5

/** Sends until `isOver`. Returns the milliseconds that each request took, once all are answered. */
export async function openLoop(
  perSecond: number,
  request: () => Promise<void>,
  isOver: () => boolean,
): Promise<number[]> {
  const asked: Promise<number>[] = []
  const began = performance.now()
  while (!isOver()) {
    const due = Math.floor(((performance.now() - began) * perSecond) / 1000)
    while (asked.length < due) asked.push(timed(request))
    await pause(lookEveryMilliseconds)
  }
  return Promise.all(asked)
}

async function timed(request: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await request()
  return performance.now() - began
}
