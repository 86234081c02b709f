/** Where a model test begins: at random, or at the seed of a failure that is to be seen again. */
import { randomInt } from 'node:crypto'

export function seedOf(what: string): number {
  const seed = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 30))
  process.stdout.write(`model of ${what}: MODEL_SEED=${seed}\n`)
  return seed
}
