import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type BroadcastOutcome,
  classifyFailure,
  combineBroadcasts,
} from '../../../shared/chains/evm/rpc/broadcast.ts'

// Messages in the words of geth and op-geth, Erigon, Nethermind, Besu, Arbitrum and anvil.
const spoken = {
  known: ['already known', 'AlreadyKnown', 'Known transaction', 'transaction already imported'],
  nonce_used: [
    'nonce too low: next nonce 5, tx nonce 4',
    'nonce too low',
    'OldNonce',
    'Nonce below current',
  ],
  underpriced: [
    'replacement transaction underpriced',
    'transaction underpriced: gas tip cap 1, minimum needed 1000000',
    'max fee per gas less than block base fee: address 0x1, maxFeePerGas: 1, baseFee: 2',
    'could not replace existing tx',
    'FeeTooLowToCompete',
    'ReplacementNotAllowed',
    'Gas price below configured minimum gas price',
  ],
  unfunded: [
    'insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1',
    'Insufficient funds for gas * price + value',
    'InsufficientFunds, Account balance: 0',
    'Upfront cost exceeds account balance',
  ],
  unreachable: ['request timed out', 'failed to forward tx, please try again'],
  refused: ['invalid sender', 'exceeds block gas limit', 'intrinsic gas too low', 'txpool is full'],
}

test('refusals of all common clients are understood, whatever their letter case', () => {
  for (const [outcome, messages] of Object.entries(spoken)) {
    for (const message of messages) {
      expect(classifyFailure({ kind: 'rpc', code: -32000, message })).toEqual({ outcome, message })
    }
  }
})

test('a node that did not answer, or failed inside, leaves the outcome unknown', () => {
  const failures = [
    { kind: 'unreachable', reason: 'TimeoutError' },
    { kind: 'rpc', code: -32603, message: 'internal error' },
    { kind: 'rpc', code: -32000, message: 'nonce too low, request timed out' },
  ] as const
  for (const failure of failures) {
    expect(classifyFailure(failure)).toMatchObject({ outcome: 'unreachable' })
  }
})

const refusals: BroadcastOutcome[] = ['nonce_used', 'underpriced', 'unfunded', 'refused']
const outcome = fc.constantFrom<BroadcastOutcome>('accepted', 'known', 'unreachable', ...refusals)

test('what two endpoints say counts as taken if one took it, and as refused if neither may have', () => {
  fc.assert(
    fc.property(outcome, outcome, (one, other) => {
      const said = [one, other]
      const combined = combineBroadcasts(said.map((each) => ({ outcome: each }))).outcome

      expect(said).toContain(combined)
      const isTaken = said.includes('accepted') || said.includes('known')
      expect(combined === 'accepted' || combined === 'known').toBe(isTaken)
      if (refusals.includes(combined)) expect(refusals).toEqual(expect.arrayContaining(said))
      const reversed = combineBroadcasts(said.toReversed().map((each) => ({ outcome: each })))
      expect(reversed.outcome).toBe(combined)
    }),
  )
})

test('without an endpoint nothing is known of what was sent', () => {
  expect(combineBroadcasts([])).toMatchObject({ outcome: 'unreachable' })
})
