import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { keepInMemory } from './support/memory.ts'
import { SlowestFirst } from './support/order.ts'
import { throughPostgrest } from './support/through-postgrest.ts'

keepInMemory()

/** `npm run test:long`: all cases of all tests, with new random values, and what takes longer. */
const isLong = process.env['FORM'] === 'long'
const seed = process.env['SEED'] ?? (isLong ? String(randomInt(2 ** 30)) : '1')

/** Returns a project of the long form that repeats tests of `product` over another part of the same product. */
function again(
  name: string,
  env: Record<string, string>,
  files: { include: string[]; exclude?: string[] },
) {
  const globalSetup = ['tests/support/global.ts']
  return {
    extends: true as const,
    test: { name, env, ...files, globalSetup, testTimeout: 600_000 },
  }
}

const operations = { include: ['tests/operations/**/*.test.ts'], exclude: throughPostgrest }
const localWorld = { include: ['tests/flows/{start,mail}.test.ts'] }

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    environment: 'node',
    // Hashing passwords took a fifth of a run.
    alias: {
      '@noble/hashes/argon2.js': fileURLToPath(new URL('support/argon2.ts', import.meta.url)),
    },
    reporters: ['default', 'tests/support/closing-line.ts'],
    setupFiles: ['tests/support/each-file.ts'],
    env: { SEED: seed, FORM: isLong ? 'long' : '' },
    pool: 'forks',
    // Files of one process share the modules they load, since loading them again took 40 % of a run.
    // Each file has its own database and world, and no test may replace what others see.
    isolate: false,
    // On two cores, the third computes while others wait for a deadline or for another process.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    hookTimeout: 120_000,
    // A condition that a test waits for may take long on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      ...(isLong
        ? [
            again('direct', { DATABASE: 'direct' }, operations),
            again('node', { HOST: 'node' }, localWorld),
          ]
        : []),
      {
        extends: true,
        test: {
          name: 'product',
          include: ['tests/**/*.test.ts'],
          exclude: [...(isLong ? [] : ['tests/long/**']), 'tests/browser/**'],
          globalSetup: ['tests/support/global.ts'],
          testTimeout: isLong ? 600_000 : 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: ['tests/support/browser/global.ts'],
          testTimeout: 120_000,
        },
      },
    ],
  },
})
