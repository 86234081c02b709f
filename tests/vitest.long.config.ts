import { randomInt } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { keepInMemory } from './support/memory.ts'

keepInMemory()

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    environment: 'node',
    env: { FORM: 'long', SEED: process.env['SEED'] ?? String(randomInt(2 ** 30)) },
    // The unit tests count what it derives.
    alias: {
      '@noble/hashes/argon2.js': fileURLToPath(new URL('support/argon2.ts', import.meta.url)),
    },
    reporters: ['default', 'tests/support/closing-line.ts'],
    // The tests of `npm test` take all of their cases here.
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/browser/**'],
    globalSetup: ['tests/support/global.ts'],
    setupFiles: ['tests/support/each-file.ts'],
    pool: 'forks',
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
