/**
 * A history as plain data. Steps name their subjects by a position counted back from the newest item, so a
 * shorter list of the same steps can be played too.
 */
import type { Level, LimitName, Permission, Scope, Ticks, Way } from './acts.ts'
import type { appScopes } from './widening-questions.ts'

/** One step. A sign-in makes its session the newest; 'best' is the best way that an owner would choose. */
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
  /** Asks everything that anyone could try now, or a sample of it. */
  | { do: 'look' }

export type StepOf<Name extends Step['do']> = Step & { do: Name }
