/**
 * Scripted attacks, each of which once broke a guarantee about money, no longer do. The tests assert the
 * amount that left the wallet, by its balance, and that no invariant of random play breaks.
 */
import { describe, expect, test } from 'vitest'
import { closing } from '../../support/ending.ts'
import type { Action } from '../../support/play/actions.ts'
import { brokenGasBudget } from '../../support/play/gas-budget.ts'
import { sumOf } from '../../support/play/invariants.ts'
import { perform } from '../../support/play/perform.ts'
import { openPlay, type Setting, plainSetting as usual } from '../../support/play/play.ts'

const ownGas: Setting = { ...usual, gasPayersMillionths: 0 }
const usd = 1_000_000
const day = 86_400

/** Plays the script. Returns the broken invariant, if any, and how many micro-USD left the wallet. */
function played(setting: Setting, script: readonly Action[], toEnd = false) {
  return closing(async () => {
    const play = await openPlay(setting)
    const broken = await perform(play, script, { every: 1, toEnd })
    return { broken, left: Number(sumOf(await play.outflows.read())) }
  })
}

const house: Action = { do: 'house' }
const freeze: Action = { do: 'freeze' }
const word = (dollars: number): Action => ({
  do: 'transfer',
  micros: dollars * usd,
  to: 0,
  word: true,
})
const wait = (seconds: number): Action => ({ do: 'wait', seconds })
const keep: Action = { do: 'manner', manner: 'keep' }
const outage = (isOn: boolean): Action => ({ do: 'outage', isOn })
const buy = (rail: 'eip3009' | 'exact' | 'upto', dollars: number, crowd = true): Action => ({
  do: 'buy',
  rail,
  micros: dollars * usd,
  to: 0,
  crowd,
})
const times = (count: number, actions: readonly Action[]) =>
  Array.from({ length: count }, () => actions).flat()

/** Actions after which a payment to the payee has settled. */
const begun: Action[] = [word(1), house]

describe('after a freeze the service itself sends nothing', () => {
  test('that no endpoint had taken before', async () => {
    const script = [outage(true), word(9), freeze, outage(false), house, wait(65), house]
    expect(await played(usual, script)).toEqual({ broken: undefined, left: 0 })
  })

  test('that went back to the queue since its relayer could not pay', async () => {
    const script: Action[] = [
      { do: 'mining', isOn: false },
      outage(true),
      word(9),
      { do: 'drain', millionths: 0 },
      outage(false),
      wait(65),
      house,
      freeze,
      { do: 'mining', isOn: true },
      { do: 'refill' },
      ...times(3, [wait(6), house]),
    ]
    expect(await played(usual, script)).toEqual({ broken: undefined, left: 0 })
  })

  test('that a wallet pays gas for and its node forgot', async () => {
    const script: Action[] = [
      { do: 'drip', millionths: 100_000 },
      { do: 'mining', isOn: false },
      word(9),
      { do: 'forget' },
      freeze,
      { do: 'mining', isOn: true },
      ...times(3, [wait(65), house]),
    ]
    expect(await played(ownGas, script)).toEqual({ broken: undefined, left: 0 })
  })

  test('that had settled in a block that is replaced', async () => {
    const script: Action[] = [
      word(9),
      house,
      { do: 'reorg', depth: 3 },
      freeze,
      ...times(3, [wait(65), house]),
    ]
    expect(await played(usual, script)).toEqual({ broken: undefined, left: 0 })
  })
})

test('a freeze cancels a signature that lives again since its block was replaced', async () => {
  const script: Action[] = [
    buy('eip3009', 9),
    { do: 'reorg', depth: 3 },
    house,
    freeze,
    ...times(2, [house, wait(6)]),
    { do: 'use', which: 0, using: 'plain', permille: 1_000 },
  ]
  expect(await played(usual, script)).toEqual({ broken: undefined, left: 0 })
})

describe('what the payee takes counts in full', () => {
  test.each(['flooded', 'stored', 'all'] as const)('however it is hidden: %s', async (using) => {
    const taken: Action = { do: 'use', which: 0, using, permille: 1_000 }
    const last: Action = { do: 'use', which: 999, using, permille: 1_000 }
    const script = [...begun, keep, ...times(8, [buy('upto', 199), taken, last, house, wait(12)])]
    expect(await played(usual, script)).toEqual({ broken: undefined, left: 399 * usd })
  })

  test('also where many settle in one transaction', async () => {
    const all: Action = { do: 'use', which: 0, using: 'all', permille: 1_000 }
    const script = [...begun, keep, ...times(20, [buy('exact', 9)]), all, house, wait(20), house]
    expect(await played(usual, script, true)).toEqual({ broken: undefined, left: 109 * usd })
  })

  test('and is booked however many transfers of nothing stand beside it', async () => {
    const flood: Action = { do: 'flood', to: 0, times: 220 }
    const script: Action[] = [
      ...begun,
      keep,
      buy('upto', 100),
      ...times(6, [flood]),
      { do: 'use', which: 0, using: 'flooded', permille: 1 },
      ...times(2, [flood, house]),
    ]
    expect(await played(usual, script, true)).toEqual({ broken: undefined, left: 1.1 * usd })
  })
})

test('a wallet that pays its own gas moves no more when gas comes after days', async () => {
  const drip = (millionths: number): Action => ({ do: 'drip', millionths })
  const two: Action[] = [word(199), { do: 'transfer', micros: 199 * usd, to: 0, word: false }]
  const mining = (isOn: boolean): Action => ({ do: 'mining', isOn })
  const inOneBlock = (actions: readonly Action[]) => [mining(false), ...actions, mining(true)]
  const script: Action[] = [
    { do: 'refill' },
    ...begun,
    { do: 'base fee', mwei: 1_000 },
    { do: 'drain', millionths: 0 },
    drip(220),
    ...inOneBlock([word(1), ...two]),
    ...times(12, [house, wait(65)]),
    ...times(4, [wait(day), drip(220), ...inOneBlock(two), house, wait(65), house]),
    { do: 'expose' },
    drip(1_000_000),
    ...times(3, [house, wait(12)]),
  ]
  expect((await played(ownGas, script)).broken).toBeUndefined()
})

test('relayers spend no more than their budget, whatever an account asks for', async () => {
  const many: Action = { do: 'transfers', micros: usd, to: 0, times: 8, word: true }
  await closing(async () => {
    const play = await openPlay({ ...usual, gas: 'budgeted' })
    const broken = await perform(play, times(5, [many, house]), { every: 100, toEnd: false })

    expect(broken).toBeUndefined()
    expect(await brokenGasBudget(play)).toBeUndefined()
    expect(Number(sumOf(await play.outflows.read()))).toBeGreaterThan(5 * usd)
  })
})

test('exposure tells what is approved and not paid yet', async () => {
  const ask = word(600)
  const script: Action[] = [
    ...begun,
    ask,
    { do: 'approve', which: 0 },
    { do: 'expose' },
    { do: 'again', which: 1 },
    word(199),
    { do: 'transfer', micros: 199 * usd, to: 0, word: false },
  ]
  expect(await played(usual, script)).toEqual({ broken: undefined, left: 999 * usd })
})

describe('one endpoint that lies ends no signature', () => {
  test.each(['time', 'late absence'] as const)('about %s', async (told) => {
    const lie: Action = { do: 'lie', lie: told }
    const truth: Action = { do: 'lie', lie: 'none' }
    const use: Action = { do: 'use', which: 999, using: 'plain', permille: 1_000 }
    const pays: Action[] = [
      keep,
      buy('eip3009', 199),
      lie,
      house,
      { do: 'status', which: 999 },
      truth,
    ]
    const script = [...begun, ...times(5, pays), ...times(5, [use])]
    const all: Action[] = [0, 1, 2, 3, 4].map((which) => ({ ...use, which }))
    for (const endpoints of ['liar first', 'liar last'] as const) {
      const end = await played({ ...usual, endpoints }, [...script, ...all])
      expect(end).toEqual({ broken: undefined, left: 399 * usd })
    }
  })
})

test('one endpoint that tells of no logs has no account frozen', async () => {
  const blocks: Action = { do: 'mine', blocks: 12 }
  const script: Action[] = [
    house,
    blocks,
    house,
    { do: 'lie', lie: 'logs' },
    buy('exact', 1),
    house,
    blocks,
    house,
    { do: 'lie', lie: 'none' },
    wait(day),
    ...times(3, [house, blocks]),
    word(1),
  ]
  const { broken } = await played({ ...usual, endpoints: 'liar first' }, script)
  expect(broken).toBeUndefined()
})
