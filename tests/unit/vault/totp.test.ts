import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { readTotp, type Totp, totpCode } from '../../../shared/vault/entries/totp.ts'
import { randomBytes } from '../../support/seed.ts'

const digitsOf32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Encodes in Base32 through one string of bits. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => digitsOf32[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

function read(text: string): Totp {
  const totp = readTotp(text)
  if ('refused' in totp) throw new Error(totp.refused)
  return totp
}

const ascii = '1234567890'
const seeds = {
  SHA1: ascii.repeat(2),
  SHA256: `${ascii.repeat(3)}12`,
  SHA512: `${ascii.repeat(6)}1234`,
}

// Test vectors of RFC 6238, appendix B.
test.each([
  [59, '94287082', '46119246', '90693936'],
  [1111111109, '07081804', '68084774', '25091201'],
  [1111111111, '14050471', '67062674', '99943326'],
  [1234567890, '89005924', '91819424', '93441116'],
  [2000000000, '69279037', '90698825', '38618901'],
  [20000000000, '65353130', '77737706', '47863826'],
])('the codes of second %d are those of RFC 6238', (second, ...expected) => {
  const codes = (['SHA1', 'SHA256', 'SHA512'] as const).map((algorithm) => {
    const seed = base32(Buffer.from(seeds[algorithm]))
    return totpCode(
      read(`otpauth://totp/a?secret=${seed}&algorithm=${algorithm}&digits=8`),
      second * 1000,
    )
  })

  expect(codes.map(({ code }) => code)).toEqual(expected)
})

test('any seed and moment give the code that OpenSSL gives', () => {
  for (let run = 0; run < 300; run += 1) {
    const seed = randomBytes(10 + (run % 119))
    const totp = {
      seed: base32(seed),
      algorithm: 'SHA256',
      digits: 6 + (run % 3),
      periodSeconds: 30 + run,
    } as const
    if (totp.periodSeconds > 300) break
    const now = randomBytes(5).readUIntBE(0, 5)
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(Math.floor(now / 1000 / totp.periodSeconds)))
    const digest = createHmac('sha256', seed).update(counter).digest()
    const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) % 2 ** 31
    const expected = String(number).padStart(totp.digits, '0').slice(-totp.digits)

    expect(totpCode(totp, now).code).toBe(expected)
  }
})

test('a code says for how many seconds it still stands', () => {
  const totp = read('JBSWY3DPEHPK3PXP')

  expect([0, 1_000, 29_999, 30_000].map((now) => totpCode(totp, now).secondsLeft)).toEqual([
    30, 29, 1, 30,
  ])
  expect(totpCode(totp, 0).code).toBe(totpCode(totp, 29_999).code)
  expect(totpCode(totp, 0).code).not.toBe(totpCode(totp, 30_000).code)
})

test('a secret is read in every way that sites show it', () => {
  const plain = { seed: 'JBSWY3DPEHPK3PXP', algorithm: 'SHA1', digits: 6, periodSeconds: 30 }
  for (const text of [
    'JBSWY3DPEHPK3PXP',
    ' jbsw y3dp ehpk 3pxp\n',
    'JBSW-Y3DP-EHPK-3PXP====',
    'otpauth://totp/Shop:me@example.com?secret=JBSWY3DPEHPK3PXP&issuer=Shop',
    'OTPAUTH://TOTP/Shop?secret=jbswy3dpehpk3pxp&algorithm=sha1&digits=6&period=30',
  ]) {
    expect(readTotp(text)).toEqual(plain)
  }
  expect(
    readTotp('otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=SHA-512&digits=8&period=60'),
  ).toEqual({
    ...plain,
    algorithm: 'SHA512',
    digits: 8,
    periodSeconds: 60,
  })
})

test.each([
  'JBSWY3DP',
  'JBSWY3DPEHPK3PX1',
  'JBSWY3DPEHPK=3PXP',
  '',
  'A'.repeat(206),
  'A'.repeat(2000),
  'otpauth://hotp/a?secret=JBSWY3DPEHPK3PXP&counter=1',
  'otpauth://totp/a?issuer=b',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&secret=JBSWY3DPEHPK3PXQ',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&algorithm=MD5',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&digits=5',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&digits=0x6',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=0',
  'otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&period=',
  'otpauth:',
  'https://example.com/?secret=JBSWY3DPEHPK3PXP',
])('what is no TOTP secret is refused without repeating it: %#', (text) => {
  const answer = readTotp(text)

  expect(answer).toHaveProperty('refused')
  expect(JSON.stringify(answer)).not.toMatch(/JBSWY|AAAA/)
})
