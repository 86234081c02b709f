/** The twin of the answers that are stored under an Idempotency-Key. */
import type { Twin } from './state.ts'
import { admit, Refused } from './state.ts'

const daySeconds = 86_400
const claimSeconds = 60

export function claimKey(
  twin: Twin,
  asked: { credential: string; operation: string; key: string; digest: string },
  toldClaim: string,
) {
  const { id, account } = admit(twin, asked.credential, 'read')
  const name = `${id}/${asked.operation}/${asked.key}`
  const kept = twin.kept.get(name)
  const isOld = kept !== undefined && kept.createdAt <= twin.now - daySeconds
  const isSilent =
    kept?.status === null && kept.claimedUntil <= twin.now && kept.digest === asked.digest
  if (!kept || isOld || isSilent) {
    const isSame = kept?.status === null && kept.digest === asked.digest
    const claim = isSame ? kept.claim : toldClaim
    const times = { createdAt: twin.now, claimedUntil: twin.now + claimSeconds }
    twin.kept.set(name, { digest: asked.digest, ...times, claim, status: null, body: null })
    return { outcome: 'claimed', claim, status: null, body: null }
  }
  const { claim, status, body } = kept
  if (kept.digest !== asked.digest) return { outcome: 'mismatch', claim, status, body: null }
  if (status === null) return { outcome: 'running', claim, status, body }
  if (account.isFrozen) throw new Refused('account_frozen')
  return { outcome: 'answered', claim, status, body }
}

/** Stores an answer; without one, gives the key back. */
export function keepAnswer(
  twin: Twin,
  asked: { credential: string; operation: string; key: string },
  answer: { status: number; body: string } | null,
): void {
  const { id } = admit(twin, asked.credential, 'read')
  const name = `${id}/${asked.operation}/${asked.key}`
  const kept = twin.kept.get(name)
  if (kept?.status !== null) return
  if (answer) Object.assign(kept, answer)
  else twin.kept.delete(name)
}
