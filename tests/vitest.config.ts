import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('..', import.meta.url)),
    environment: 'node',
    reporters: ['default', 'tests/support/closing-line.ts'],
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/long/**'],
    globalSetup: ['tests/support/global.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
