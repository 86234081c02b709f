/**
 * Plays random histories of an account and compares each step with the twin. In between it asks every
 * action that anyone could try at that moment. A failure is thrown with the shortest script found for it.
 */
import * as z from 'zod'
import type { Dice } from '../model/dice.ts'
import { diceOf } from '../model/dice.ts'
import { shrunk } from '../play/shrink.ts'
import * as access from './access-steps.ts'
import type { Act } from './acts.ts'
import { askAll } from './asking.ts'
import * as decisions from './decision-steps.ts'
import { everyQuestion } from './everything.ts'
import type { Knowing } from './known.ts'
import { knownDevices, knownRecipients } from './known.ts'
import * as payings from './paying-steps.ts'
import { judge } from './questions.ts'
import { readShown } from './rows.ts'
import { drawSteps } from './scenes.ts'
import type { Stage, Story } from './stage.ts'
import { bookOf, openStage, openStory, passTime } from './stage.ts'
import type { Step, StepOf } from './steps.ts'
import * as widening from './widening-steps.ts'

export type Ran = { histories: number; steps: number; asked: number; done: Map<string, number> }

const stagesAtOnce = 2
const stepsOfHistory = 30
const questionsOfLook = 120
const shrinkMilliseconds = 30_000

/**
 * Runs this many histories from one seed on. Throws at the first in which something succeeds without an act
 * of the owner that permits it.
 */
export async function runHistories(count: number, seed: number): Promise<Ran> {
  const ran: Ran = { histories: 0, steps: 0, asked: 0, done: new Map() }
  let next = seed
  const play = async () => {
    const stage = await openStage()
    try {
      while (next < seed + count) {
        next += 1
        await playOne(stage, next, ran)
      }
    } finally {
      await stage.ledger.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(stagesAtOnce, count) }, play))
  return ran
}

async function playOne(stage: Stage, seed: number, ran: Ran): Promise<void> {
  const steps = drawSteps(diceOf(seed), stepsOfHistory)
  const failure = await failureOf(stage, steps, ran, diceOf(seed))
  ran.histories += 1
  if (!failure) return
  const fails = async (shorter: readonly Step[]) =>
    kindOf(await failureOf(stage, shorter, ran)) === kindOf(failure)
  const upTo = steps.slice(0, failure.after)
  const short = await shrunk(upTo, (step) => step.do, fails, shrinkMilliseconds)
  const { what } = (await failureOf(stage, short, ran)) ?? failure
  const script = short.map((step) => JSON.stringify(step)).join('\n')
  throw new Error(`SEED=${seed - 1}: ${what}\n\nthe shortest script:\n${script}`)
}

/** The action that the owner's acts did not permit, and the number of steps before it. */
type Failure = { what: string; after: number }

/** Returns the kind of a failure, without the ids it concerns. */
const kindOf = (failure: Failure | undefined) =>
  failure?.what
    .split(':')
    .slice(0, 2)
    .join(':')
    .replace(/[0-9a-f-]{8,}.*/, '')

/**
 * Plays a script in a new account and returns its failure, if any. With dice it asks a sample wherever the
 * script says so; without dice it asks everything at the end.
 */
async function failureOf(
  stage: Stage,
  steps: readonly Step[],
  ran: Ran,
  dice?: Dice,
): Promise<Failure | undefined> {
  const story = await openStory(stage)
  let after = 0
  try {
    for (const step of steps) {
      after += 1
      await passTime(stage, 1)
      if (step.do !== 'look') await take(story, step)
      else if (dice) await look(story, ran, dice)
      await confirmKnown(story)
      ran.steps += 1
    }
    if (!dice) await look(story, ran)
    return undefined
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('given by nobody')) throw error
    const last = story.trace.map((one) => JSON.stringify(one)).join('\n')
    return { what: `${error.message}\n\nlast calls:\n${last}`, after }
  } finally {
    for (const [kind, times] of story.done) ran.done.set(kind, (ran.done.get(kind) ?? 0) + times)
  }
}

/** Asks what anyone could do now; none of it takes effect. */
async function look(story: Story, ran: Ran, dice?: Dice): Promise<void> {
  await passTime(story.stage, 1)
  const every = await everyQuestion(story, await readShown(story))
  const share = Math.ceil((100 * questionsOfLook) / every.length)
  const questions = dice ? every.filter(() => dice.isLucky(share)) : every
  const told = await askAll(story.stage.ledger, questions)

  ran.asked += questions.length
  for (const [at, question] of questions.entries()) {
    const answer = told[at]
    if (answer) judge(story, question, answer)
  }
}

const rowsSchema = z.array(
  z.object({
    name: z.string(),
    session: z.string(),
    payment: z.string().nullable(),
  }),
)

/** Checks that each known recipient and device points to an act of the owner that made it known. */
async function confirmKnown(story: Story): Promise<void> {
  const { ledger } = story.stage
  const read = async (table: string, name: string) =>
    rowsSchema.parse(
      await ledger.query(
        `select ${name} as name, r.session, o.payment from private.${table} r
          left join private.approvals o on o.consent = r.consent where r.account = $1`,
        [story.account],
      ),
    )
  const book = bookOf(story)
  confirmRows(await read('known_recipients', 'r.address'), knownRecipients(book))
  const devices = await read('known_devices', `r.key || ' ' || r.fingerprint`)
  confirmRows(devices, knownDevices(book))
}

function confirmRows(rows: z.output<typeof rowsSchema>, known: Map<string, Knowing>): void {
  for (const { name, session, payment } of rows) {
    const act = known.get(name)
    const isOfAct = act?.session === session && paymentOf(act) === payment
    if (!isOfAct) {
      throw new Error(
        `given by nobody: known: ${name} in ${session} by ${payment}, not ${JSON.stringify(act)}`,
      )
    }
  }
}

const paymentOf = (act: Act) => (act.do === 'approve' ? act.payment : null)

const performers: { [Name in Step['do']]: (story: Story, step: StepOf<Name>) => Promise<void> } = {
  'sign in': access.comeIn,
  touch: access.stay,
  prove: access.prove,
  'end session': access.leave,
  'end others': access.leaveAlone,
  'new password': access.renewPassword,
  'new codes': access.renewCodes,
  'add passkey': access.takePasskey,
  'remove passkey': access.dropPasskey,
  'lose passkeys': access.giveUpPasskeys,
  'make key': widening.createKey,
  'rotate key': widening.replaceKey,
  'revoke key': widening.endKey,
  'let in': widening.connect,
  refresh: widening.renewAccess,
  disconnect: widening.endApp,
  know: widening.know,
  forget: widening.forgetRecipient,
  'forget device': widening.forgetDevice,
  'forget all by': widening.forgetBy,
  freeze: widening.stopAll,
  unfreeze: widening.goOnAgain,
  'set limit': widening.changeLimit,
  permit: widening.allow,
  ask: payings.askToPay,
  'go on': payings.goOn,
  force: payings.force,
  settle: payings.settle,
  unsettle: payings.unsettle,
  release: payings.release,
  'ask mandate': payings.askForMandate,
  'give up mandate': payings.giveUpMandate,
  approve: decisions.sayYes,
  'approve several': decisions.sayYesToSeveral,
  decline: decisions.sayNo,
  'approve mandate': decisions.giveMandate,
  'decline mandate': decisions.refuseMandate,
  suspend: decisions.stopMandate,
  resume: decisions.resumeMandate,
  'revoke mandate': decisions.endMandate,
  undo: decisions.undo,
  wait: ({ stage }, { seconds }) => passTime(stage, seconds),
  look: async () => undefined,
}

function take<Name extends Step['do']>(story: Story, step: StepOf<Name>): Promise<void> {
  return performers[step.do](story, step)
}
