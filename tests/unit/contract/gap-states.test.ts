import { expect, test } from 'vitest'
import {
  type GapId,
  gapStates,
  gapStatuses,
  gaps,
  type Health,
} from '../../../shared/contract/gaps.ts'

const [one, other] = ['eip155:8453', 'eip155:42161']
const well: Health = { watched: true, chains: [one, other], failing: [] }

const failing = (...parts: string[]): Health => ({
  ...well,
  failing: parts.map((part) => ({ part, reason: 'gone' })),
})

function stateOf(gap: GapId, health: Health) {
  return gapStates(health).find(({ gap_id }) => gap_id === gap)
}

test('with everything well each capability is as good as it can be', () => {
  const best = Object.values(gaps).map((capability) => capability.best)

  expect(gapStates(well).map(({ status }) => status)).toEqual(best)
})

test('one chain that is lost lowers the whole to partial_live, and the others not at all', () => {
  const state = stateOf('GAP_TRANSFER_V1', failing(`endpoints:${one}`))

  expect(state).toMatchObject({ status: 'partial_live', reasons: ['endpoints_gone'] })
  expect(state?.chains?.map(({ status }) => status)).toEqual(['unavailable', 'live'])
})

test('with every chain lost, or none connected, what needs one is unavailable', () => {
  const lost = failing(`endpoints:${one}`, `endpoints:${other}`)

  expect(stateOf('GAP_TRANSFER_V1', lost)?.status).toBe('unavailable')
  expect(stateOf('GAP_X402_V1', { ...well, chains: [] })).toMatchObject({
    status: 'unavailable',
    reasons: ['no_chain_connected'],
  })
})

test('what a capability needs is unavailable everywhere without it', () => {
  const state = stateOf('GAP_X402_V1', failing('custody'))

  expect(state).toMatchObject({ status: 'unavailable', reasons: ['custody_gone'] })
  expect(state?.chains?.map(({ status }) => status)).toEqual(['unavailable', 'unavailable'])
})

test('nothing that fails raises a state', () => {
  const parts = [
    'custody',
    'vault',
    'mail_out',
    'walletconnect',
    'agent_sign_up',
    ...onChain(one),
    ...onChain(other),
  ]
  const subsets = Array.from({ length: 2 ** parts.length }, (_, bits) =>
    parts.filter((_part, index) => bits & (2 ** index)),
  )
  const ranksOf = (health: Health) =>
    gapStates(health).map(({ status }) => gapStatuses.indexOf(status))

  for (const subset of subsets) {
    const before = ranksOf(failing(...subset))
    for (const part of parts) {
      const after = ranksOf(failing(...new Set([...subset, part])))
      expect(after.every((rank, index) => rank >= (before[index] ?? 0))).toBe(true)
    }
  }
})

function onChain(chain: string): string[] {
  return ['endpoints', 'relayers', 'eurc'].map((part) => `${part}:${chain}`)
}
