import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { keepInMemory } from './support/memory.ts'

keepInMemory()

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    environment: 'node',
    // A fifth of a run went into hashing passwords.
    alias: {
      '@noble/hashes/argon2.js': fileURLToPath(new URL('support/argon2.ts', import.meta.url)),
    },
    reporters: ['default', 'tests/support/closing-line.ts'],
    setupFiles: ['tests/support/each-file.ts'],
    // The same tree gives the same result; the long form draws the random cases of unit tests anew.
    env: { PROPERTY_SEED: process.env['PROPERTY_SEED'] ?? '1' },
    pool: 'forks',
    // Files that run in one process share what they load: to load it again took 40 % of a run. Each
    // has its own database and world, and no test may replace what others see.
    isolate: false,
    hookTimeout: 120_000,
    // A condition that a test waits for may take long on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'product',
          include: ['tests/**/*.test.ts'],
          exclude: ['tests/long/**', 'tests/browser/**'],
          globalSetup: ['tests/support/global.ts'],
          maxWorkers: 2,
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['tests/browser/**/*.test.ts'],
          globalSetup: ['tests/support/browser/global.ts'],
          // After everything else: they share a world and a browser, which start once.
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
          testTimeout: 60_000,
        },
      },
    ],
  },
})
