/** The seed of a model test: random, or that of a failure to reproduce. */
import { randomInt } from 'node:crypto'

export function seedOf(what: string): number {
  const seed = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 30))
  process.stdout.write(`model of ${what}: MODEL_SEED=${seed}\n`)
  return seed
}
