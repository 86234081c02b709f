/** Secrets in encoded text, which is decoded to be searched. */
import { expect, test } from 'vitest'
import { removedMark, scrubberFor } from '../../../shared/vault/scrub.ts'

const secret = 'Canary<1 horse&battery'

async function shown(body: string, secrets = [secret]) {
  const answer = await scrubberFor(secrets)({
    headers: [],
    body: Buffer.from(body),
    truncated: false,
  })
  if ('withheld' in answer) throw new Error(answer.withheld)
  return answer
}

const goJson = (bio: string) =>
  `{"bio":"${bio}","password":"${secret.replace('<', '\\u003c').replace('&', '\\u0026')}"}`
const base64 = (text: string) => Buffer.from(text).toString('base64')
const hex = (text: string) => Buffer.from(text).toString('hex')

test.each([
  ['beside letters outside of ASCII', `is ${base64(goJson('Привет, это моя страница.'))}.`],
  ['beside other letters, in hex', `is ${hex(goJson('日本語のページです'))}.`],
  ['as the value of a query', `/next?state=${hex(encodeURIComponent(secret))}`],
  ['as the value of an attribute', `<input value=${hex(encodeURIComponent(secret))}>`],
])('a secret that was escaped and then encoded is removed %s', async (_, body) => {
  const answer = await shown(body)

  expect(answer.removed).toBe(1)
  expect(answer.body).toContain(removedMark)
  expect(answer.body).not.toMatch(/[\w+/]{20}/)
})

test('text that decodes to what nearly is a secret in too many ways is removed whole', async () => {
  const secrets = Array.from({ length: 20 }, (_, at) => `UUUUUU${String.fromCharCode(97 + at)}`)
  const body = `${'V'.repeat(100)} `.repeat(2_500)

  expect(await shown(body, secrets)).toMatchObject({ removed: 1 })
})
