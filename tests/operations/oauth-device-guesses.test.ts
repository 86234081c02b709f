/** Nobody finds the code of another person's program by guessing: the page's bound holds for all accounts together. */
import { expect, test } from 'vitest'
import * as z from 'zod'
import { Rejection } from '../../shared/contract/errors.ts'
import { digestOfUserCode } from '../../shared/oauth/device.ts'
import { postForm, register, serve, sessionOf } from '../support/oauth.ts'
import { start } from '../support/world.ts'

const grant = 'urn:ietf:params:oauth:grant-type:device_code'
const accounts = process.env['FORM'] === 'long' ? 1_000 : 60
const triesOfOne = 10

test('of the guesses of many accounts 300 are looked at, then one a second', async () => {
  const tests = await start()
  const served = await serve(tests)
  const client = await register(served, { redirect_uris: [], grant_types: [grant] })
  const { body } = await postForm(served, '/oauth/device', { client_id: client })
  const right = z.string().parse(body['user_code'])
  const wrong = right === 'BBBB-BBBB' ? 'CCCC-CCCC' : 'BBBB-BBBB'
  const guess = async (db: Awaited<ReturnType<typeof sessionOf>>['db'], code: string) => {
    const user_digest = await digestOfUserCode(served.world, code)
    return db.one('owner_find_device', { user_digest }, z.unknown()).catch((error: unknown) => {
      if (error instanceof Rejection) return error.refusal.refusal
      throw error
    })
  }

  const answers: unknown[] = []
  for (let account = 0; account < accounts; account += 1) {
    const { db } = await sessionOf(served, await tests.agent('read'))
    for (let tries = 0; tries < triesOfOne; tries += 1) answers.push(await guess(db, wrong))
  }
  const { db } = await sessionOf(served, await tests.agent('read'))
  const tooLate = await guess(db, right)
  await tests.tick(1)
  const oneMore = [await guess(db, wrong), await guess(db, right)]

  expect(answers.filter((answer) => answer === undefined)).toHaveLength(300)
  expect(answers.filter((answer) => answer === 'rate_limited')).toHaveLength(
    accounts * triesOfOne - 300,
  )
  expect([tooLate, ...oneMore]).toEqual(['rate_limited', undefined, 'rate_limited'])
})
