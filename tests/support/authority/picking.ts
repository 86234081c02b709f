/** Picks the subject of a step by a position counted back from the newest, modulo the length. */
import type { Agent, Session, Story } from './stage.ts'

export function lastOf<Item>(items: readonly Item[], place: number): Item | undefined {
  return items.at(-1 - (place % Math.max(items.length, 1)))
}

export const sessionAt = ({ cast }: Story, place: number): Session | undefined =>
  lastOf(cast.sessions, place)

export const agentAt = ({ cast }: Story, place: number): Agent | undefined =>
  lastOf(cast.agents, place)
