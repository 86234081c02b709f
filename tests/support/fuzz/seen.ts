/** Ids, cursors and hashes that appeared in answers and that later requests use. */
import * as z from 'zod'
import type { Random } from '../seed.ts'
import { chance, oneOf } from './values.ts'

export type Memory = {
  keep(body: unknown): void
  seen(name: string): unknown
}

const keptMax = 100
const texts = z.record(z.string(), z.unknown())

export function openMemory(random: Random): Memory {
  const kept = new Map<string, string[]>()
  const keepOne = (name: string, value: string) => {
    const values = kept.get(name) ?? []
    values.push(value)
    kept.set(name, values.slice(-keptMax))
  }
  const keep = (body: unknown) => {
    if (Array.isArray(body)) return body.forEach(keep)
    for (const [name, value] of Object.entries(texts.safeParse(body).data ?? {})) {
      if (typeof value !== 'string') keep(value)
      else if (name === 'next_cursor') keepOne('cursor', value)
      else if (/_id$|^tx_hash$|^alias$/.test(name)) keepOne(name, value)
      if (typeof value === 'string' && name.endsWith('_id')) keepOne('any_id', value)
    }
  }
  return {
    keep,
    seen(name) {
      const anyId = name.endsWith('_id') && chance(random, 20) ? kept.get('any_id') : undefined
      const [own, other] = [kept.get(name), kept.get(otherNames[name] ?? '')]
      return oneOf(random, anyId ?? own ?? other ?? [])
    },
  }
}

/** Other fields under which an id is used: a payment has the id of what created it. */
const otherNames: Record<string, string> = {
  payment_id: 'transfer_id',
  transfer_id: 'attempt_id',
  recipient: 'alias',
}
