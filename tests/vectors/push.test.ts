/** The example of RFC 8291 section 5, byte by byte. */
import { expect, test } from 'vitest'
import { encryptPush } from '../../shared/mail/push.ts'

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))
const privateKey = bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw')
const salt = bytes('DGv6ra1nlYgDCS1FRnbzlw')
const browser = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
}
const body =
  'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml' +
  'mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT' +
  'pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN'

test('the message of RFC 8291 is encrypted to the bytes that it prints', async () => {
  const randomBytes = (length: number) => (length === 16 ? salt : privateKey)

  const made = await encryptPush(
    { randomBytes },
    browser,
    'When I grow up, I want to be a watermelon',
  )

  expect(Buffer.from(made).toString('base64url')).toBe(body)
})
