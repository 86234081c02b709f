/**
 * A history as plain data: steps that name whom and what they are about by a place, counted from what
 * came last, so that a shorter list of them can be played as well.
 */
import type { Level, LimitName, Permission, Scope, Ticks, Way } from './acts.ts'
import type { appScopes } from './widening-questions.ts'

/** Who comes in is the newest session from then on; by the best way as an owner would. */
export type Step =
  | { do: 'sign in'; way: Way | 'best'; which: number }
  | { do: 'touch' | 'end others' | 'new password' | 'new codes'; session: number }
  | { do: 'add passkey' | 'lose passkeys' | 'unfreeze'; session: number }
  | { do: 'prove'; session: number; by: 'password' | 'passkey'; which: number }
  | { do: 'end session'; session: number; ended: number }
  | { do: 'remove passkey'; session: number; which: number }
  | { do: 'make key'; session: number; scope: Scope }
  | { do: 'rotate key'; session: number; agent: number; hours: number }
  | { do: 'revoke key' | 'disconnect' | 'forget all by'; session: number; agent: number }
  | { do: 'let in'; session: number; scope: (typeof appScopes)[number] }
  | { do: 'refresh'; agent: number }
  | { do: 'know' | 'forget'; session: number; payee: number }
  | { do: 'forget device'; session: number; agent: number; device: number }
  | { do: 'ask'; agent: number; device: number; payee: number; usd: number; isBought: boolean }
  | { do: 'go on'; agent: number; device: number; payment: number; word: boolean }
  | { do: 'force'; agent: number; payment: number; level: Level; mandate: number }
  | { do: 'settle'; payment: number; label: 'included' | 'safe' | 'finalized' }
  | { do: 'unsettle' | 'release'; payment: number }
  | { do: 'approve'; session: number; payment: number; ticks: Ticks; signing: number | null }
  | { do: 'approve several'; session: number; payments: number; signing: number | null }
  | { do: 'decline'; session: number; payment: number }
  | { do: 'ask mandate'; agent: number; device: number; payee: number | null }
  | {
      do: 'approve mandate'
      session: number
      mandate: number
      anyKey: boolean
      signing: number | null
    }
  | {
      do: 'decline mandate' | 'suspend' | 'resume' | 'revoke mandate'
      session: number
      mandate: number
    }
  | { do: 'give up mandate'; agent: number; mandate: number }
  | { do: 'freeze'; agent: number | null; session: number }
  | { do: 'set limit'; session: number; name: LimitName; usd: number }
  | { do: 'permit'; session: number; what: Permission; agent: number; permits: boolean }
  | { do: 'undo'; session: number; ago: number; putBack: boolean }
  | { do: 'wait'; seconds: number }
  /** Everything that anybody could try now is asked, or a part of it. */
  | { do: 'look' }

export type StepOf<Name extends Step['do']> = Step & { do: Name }
