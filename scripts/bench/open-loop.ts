/** Requests at a steady rate, however long those before them take, as many people at once send them. */
import { setTimeout as pause } from 'node:timers/promises'

const lookEveryMilliseconds = 5

/** Asks until `isOver`; answers how long each took, in milliseconds, once all are answered. */
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
