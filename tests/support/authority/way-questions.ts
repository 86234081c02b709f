/** Questions about signing in with a password, recovery code or passkey. */
import { newDigest } from '../model/ledger.ts'
import type { Way } from './acts.ts'
import type { Question } from './asking.ts'
import { hasRow } from './questions.ts'
import type { Story } from './stage.ts'
import { bookOf } from './stage.ts'
import { passwordOf } from './undoing.ts'
import { codesOf, passkeysOf } from './ways-in.ts'

export function signIn(story: Story, way: Way, by: string, session_digest = newDigest()): Question {
  const book = bookOf(story)
  const browser = { session_digest, user_agent: '', client: `10.0.0.${story.acts.length % 250}` }
  const { email, cast } = story
  const counter = cast.passkeys.find(({ id }) => id === by)?.counter ?? 0
  const asked = {
    password: { name: 'login_with_password', args: { email, password_hash: by, ...browser } },
    recovery_code: { name: 'login_with_code', args: { email, code_digest: by, ...browser } },
    passkey: {
      name: 'login_with_passkey',
      args: {
        passkey: by,
        counter_seen: String(counter),
        counter_now: String(counter + 1),
        challenge: newDigest().slice(0, 43),
        ...browser,
      },
    },
  }[way]
  return {
    kind: `sign in by ${way.replace('_', ' ')}`,
    words: by,
    ...asked,
    isDone: hasRow,
    isGiven: () => {
      if (way === 'password') return passwordOf(book).password === by
      return way === 'passkey' ? passkeysOf(book).has(by) : codesOf(book).has(by)
    },
  }
}
