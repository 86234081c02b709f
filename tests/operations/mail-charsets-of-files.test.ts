/**
 * A code is sealed however the mail is composed: in a text file of the charset that its part names, and
 * in a mail that is signed as a whole (RFC 8551 section 3.5.2), which is a mail within a mail.
 */
import { expect, test } from 'vitest'
import { receiveMail } from '../../shared/mailbox/receive/receive.ts'
import { mailboxOf } from '../support/mailbox.ts'
import { randomUUID } from '../support/seed.ts'
import { mailDomain, start } from '../support/world.ts'

const product = await start()
const code = '482913'

async function readFile(lines: readonly string[]) {
  const agent = await product.agent('pay')
  const box = mailboxOf(product, agent)
  const raw = new Uint8Array(Buffer.from(lines.join('\r\n')))
  const envelope = { envelopeFrom: 'a@shop.example', envelopeTo: box.address }
  expect(await receiveMail(product.world, { ...envelope, raw })).toBe('kept')
  const { mail_id, attachments } = await box.newest()
  expect(attachments).toHaveLength(1)
  if (attachments[0]?.withheld) return ''
  const file = await box.read(mail_id, { attachment: '1' })
  const bytes = Buffer.from(file.content_base64 ?? '', 'base64').toString('latin1')
  return `${file.untrusted.attachment?.text ?? ''}${bytes}`
}

const head = (subject: string) => [
  `Authentication-Results: mx.${mailDomain}; spf=pass smtp.mailfrom=shop.example`,
  'From: no-reply@shop.example',
  `Subject: ${subject}`,
  `Message-ID: <${randomUUID()}@shop.example>`,
  'MIME-Version: 1.0',
]

/** "Your verification code is 482913" in the languages of these charsets. */
test.each([
  ['windows-1251', 'wuD4IOru5CDv7uTy4uXw5uTl7ej/OiA0ODI5MTMuIM3o6u7s8yDl4+4g7eUg8e7u4fng6fLlLg=='],
  ['koi8-r', '98HbIMvPxCDQz8TU18XS1sTFzsnROiA0ODI5MTMuIO7Jy8/N1SDFx88gzsUg08/Pwt3BytTFLg=='],
  ['shift_jis', 'lEaP2INSgVuDaILNIDQ4MjkxMyCCxYK3gUI='],
  ['iso-2022-jp', 'GyRCRyc+WiUzITwlSSRPGyhCIDQ4MjkxMyAbJEIkRyQ5ISMbKEI='],
  ['gb18030', 'xPq1xNHp1qTC68rHIDQ4MjkxM6Osx+vO8Ljmy9/L+8jLoaM='],
  ['big5', 'sXqqusXnw9K9WKxPIDQ4MjkxM6FBvdCkxadptkSlTKRIoUM='],
  ['windows-1254', 'RG/wcnVsYW1hIGtvZHVudXo6IDQ4MjkxMy4g3mlmcmU6IGdpemxp'],
])('a file of text in %s', async (charset, content) => {
  const lines = [
    ...head('Hello'),
    'Content-Type: multipart/mixed; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'See the file.',
    '--b',
    `Content-Type: text/plain; charset=${charset}; name="a.txt"`,
    'Content-Disposition: attachment; filename="a.txt"',
    'Content-Transfer-Encoding: base64',
    '',
    content,
    '--b--',
    '',
  ]

  expect(await readFile(lines)).not.toContain(code)
})

/** Text "Your sign-in code is: 482913", signed by `openssl cms -sign -nodetach`. */
const signed =
  'MIICwgYJKoZIhvcNAQcCoIICszCCAq8CAQExDTALBglghkgBZQMEAgEwWAYJKoZIhvcNAQcBoEsESUNvbnRlbnQtVHlwZTogdGV4dC9wbGFpbjsgY2hhcnNldD11dGYtOA0KDQpZb3VyIHNpZ24taW4gY29kZSBpczogNDgyOTEzDQoxggI/MIICOwIBATAvMBcxFTATBgNVBAMMDHNob3AuZXhhbXBsZQIUFWfcXnQQ9NOoRDcF++/zyUlzm/swCwYJYIZIAWUDBAIBoIHkMBgGCSqGSIb3DQEJAzELBgkqhkiG9w0BBwEwHAYJKoZIhvcNAQkFMQ8XDTI2MTEyNzAwMTIzMVowLwYJKoZIhvcNAQkEMSIEILf3ujIqUpA7aerjyEAotyASgtAh2vzZHfgGPmFmXBClMHkGCSqGSIb3DQEJDzFsMGowCwYJYIZIAWUDBAEqMAsGCWCGSAFlAwQBFjALBglghkgBZQMEAQIwCgYIKoZIhvcNAwcwDgYIKoZIhvcNAwICAgCAMA0GCCqGSIb3DQMCAgFAMAcGBSsOAwIHMA0GCCqGSIb3DQMCAgEoMA0GCSqGSIb3DQEBAQUABIIBABFQOZiZvD/PBeiEK2kUIMvOK66nmNue5uxKyH9c23pxa8IJ0Ak3/Yqf6Yr/Ttzz4ihQ+2uJrDDi1FYSUKT0zMyfzoTx7T37QCif3b7GzYPjY9d3rWV6k/j0AiP6kIsXzaDgyXDKUG8zmfMi5N13PshS8IMUJNN+lmgwmg6Vg6Qs+vDzgFAt87S+RaJX9eslm3RMW7Mh29LR/OqZyZ+nqwXhwyGwrrq5s5w8H5PV2mgz2EXQSOzdCu9V53mfFZpsahNWHosYiK9KExP4ONjHqHbdC7X+3dSd3XmXgKBL4wl1u8SYWkxM3NYUL2HlV4LPxY9YhNG4bUM9C8Jr4a6Blec='

test('a mail that is signed as a whole', async () => {
  const lines = [
    ...head('Your sign-in code'),
    'Content-Type: application/pkcs7-mime; smime-type=signed-data; name="smime.p7m"',
    'Content-Transfer-Encoding: base64',
    'Content-Disposition: attachment; filename="smime.p7m"',
    '',
    ...(signed.match(/.{1,76}/g) ?? []),
    '',
  ]

  expect(await readFile(lines)).not.toContain(code)
})
