/** Whom and what a step is about: by a place counted from the last, around. */
import type { Agent, Session, Story } from './stage.ts'

export function lastOf<Item>(items: readonly Item[], place: number): Item | undefined {
  return items.at(-1 - (place % Math.max(items.length, 1)))
}

export const sessionAt = ({ cast }: Story, place: number): Session | undefined =>
  lastOf(cast.sessions, place)

export const agentAt = ({ cast }: Story, place: number): Agent | undefined =>
  lastOf(cast.agents, place)
