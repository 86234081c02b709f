import { expect, test } from 'vitest'
import * as z from 'zod'
import { newId } from '../../shared/world.ts'

test('an id is a UUID of version 4, and no two are the same', () => {
  const ids = Array.from({ length: 1_000 }, newId)

  expect(z.array(z.uuidv4()).safeParse(ids).success).toBe(true)
  expect(new Set(ids).size).toBe(ids.length)
})
