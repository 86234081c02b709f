/** The world of a program, for parts of the product that it shares. */
import type { World } from '../../shared/world.ts'

/** Network and clock. */
export type Outside = Pick<World, 'fetch' | 'now' | 'deadline'>

/** Network and clock of this process. */
export const outside: Outside = {
  fetch: (input, init) => fetch(input, init),
  now: () => new Date(),
  deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
}
