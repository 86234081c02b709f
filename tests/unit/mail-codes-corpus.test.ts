import { expect, test } from 'vitest'
import { bare, isTold, mails, readBothWays, type SecretKind } from '../support/mail-corpus/mails.ts'

/** Counts each secret once in the subject and once in the text of its mail. */
function tellings(kinds: readonly SecretKind[]) {
  const told: string[] = []
  let all = 0
  for (const mail of mails) {
    const secrets = mail.secrets.filter(([kind]) => kinds.includes(kind))
    for (const { original, sealed } of secrets.length > 0 ? readBothWays(mail) : []) {
      for (const [, secret] of secrets) {
        if (!bare(original).includes(bare(secret))) continue
        all += 1
        if (isTold(secret, sealed)) told.push(`${mail.from}: ${secret}\n${sealed}`)
      }
    }
  }
  return { all, told }
}

test.each<[string, SecretKind[], number]>([
  ['codes and sign-in links', ['code', 'link'], 0.003],
  ['passwords, keys and what pays or opens doors', ['other'], 0.09],
])('of %s in mails of products few are told', (_what, kinds, shareMax) => {
  const { all, told } = tellings(kinds)

  expect(all).toBeGreaterThan(750)
  expect(told.length / all, told.join('\n\n')).toBeLessThanOrEqual(shareMax)
})

test('of ordinary mails at most one in two hundred has anything sealed', () => {
  const ordinary = mails.filter(({ secrets, others }) => secrets.length === 0 && !others)
  const touched = ordinary.flatMap((mail) =>
    readBothWays(mail).flatMap(({ original, sealed }) => (original === sealed ? [] : [sealed])),
  )

  expect(ordinary.length).toBeGreaterThan(1_000)
  expect(touched.length / ordinary.length, touched.join('\n\n')).toBeLessThanOrEqual(0.005)
})

test('of numbers and links beside a secret at most one in a hundred is sealed', () => {
  const kept = mails.flatMap((mail) => {
    const parts = mail.others ? readBothWays(mail) : []
    return parts.flatMap(({ original, sealed }) =>
      (mail.others ?? [])
        .filter((one) => bare(original).includes(bare(one)))
        .map((one) => bare(sealed).includes(bare(one))),
    )
  })

  expect(kept.length).toBeGreaterThan(200)
  expect(kept.filter((isKept) => !isKept).length / kept.length).toBeLessThanOrEqual(0.01)
})
