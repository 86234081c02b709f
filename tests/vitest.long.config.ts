import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { keepInMemory } from './support/memory.ts'

keepInMemory()

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    environment: 'node',
    env: { FORM: 'long' },
    reporters: ['default', 'tests/support/closing-line.ts'],
    include: ['tests/long/**/*.test.ts', 'tests/unit/**/*.test.ts'],
    globalSetup: ['tests/support/global.ts'],
    setupFiles: ['tests/support/each-file.ts'],
    pool: 'forks',
    maxWorkers: 2,
    maxConcurrency: 2,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
})
