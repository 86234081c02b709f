/** Codes, passwords and keys in text files of a mail are sealed, in the usual forms of such files. */
import { expect, test } from 'vitest'
import { openMailbox } from '../support/mailbox.ts'
import { start } from '../support/world.ts'

const product = await start()
const pem = Array.from(
  { length: 12 },
  (_, at) => `b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA${at}Xz9q`,
)
const files: [string, string, string, string][] = [
  [
    'login.json',
    'application/json',
    '{"user":"ada","verification_code":"482913","expires":600}',
    '482913',
  ],
  ['login.json', 'application/json', '{"user":"ada","otp":482913}', '482913'],
  ['login.json', 'application/json', '{"user":"ada","password":"Xk9#mQ2!vT"}', 'Xk9#mQ2!vT'],
  ['a.xml', 'application/xml', '<login><user>ada</user><code>482913</code></login>', '482913'],
  [
    'a.xml',
    'application/xml',
    '<login><user>ada</user><password>Xk9#mQ2!vT</password></login>',
    'Xk9#mQ2!vT',
  ],
  ['a.csv', 'text/csv', 'user,password\nada,Xk9#mQ2!vT\nbob,Lm4$pR8?wZ\n', 'Xk9#mQ2!vT'],
  [
    '.env',
    'application/octet-stream',
    'USER=ada\nAPI_TOKEN=q8Zk2Lw9Xv4T\nPASSWORD=Xk9#mQ2!vT\n',
    'Xk9#mQ2!vT',
  ],
  [
    '.netrc',
    'application/octet-stream',
    'machine shop.example login ada password Xk9#mQ2!vT\n',
    'Xk9#mQ2!vT',
  ],
  ['a.yaml', 'application/yaml', 'login:\n  user: ada\n  password: Xk9#mQ2!vT\n', 'Xk9#mQ2!vT'],
  ['a.ini', 'text/plain', '[mail]\nuser = ada\npassword = Xk9#mQ2!vT\n', 'Xk9#mQ2!vT'],
  [
    'a.plist',
    'application/xml',
    '<dict><key>password</key><string>Xk9#mQ2!vT</string></dict>',
    'Xk9#mQ2!vT',
  ],
  ['a.html', 'text/html', '<p>Your code</p><p><b>482</b><b>913</b></p>', '482913'],
  [
    'id_ed25519',
    'application/octet-stream',
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${pem.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`,
    pem[4] ?? '',
  ],
  [
    'vpn.conf',
    'application/octet-stream',
    '[Interface]\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nAddress = 10.0.0.2/32\n',
    'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=',
  ],
  ['wifi.txt', 'text/plain', 'WIFI:T:WPA;S:office;P:Xk9#mQ2!vT;;\n', 'Xk9#mQ2!vT'],
  [
    'otp.txt',
    'text/plain',
    'otpauth://totp/Shop:ada?secret=JBSWY3DPEHPK3PXP&issuer=Shop\n',
    'JBSWY3DPEHPK3PXP',
  ],
]

test.each(files)('%s (%s)', async (filename, contentType, content, secret) => {
  const box = await openMailbox(product)
  const text = 'Your sign-in data is attached. Keep the code and the password to yourself.'
  await box.receiveFiles({ subject: 'Your login', text }, [{ filename, contentType, content }])
  const mail = await box.newest()
  if (mail.attachments[0]?.withheld) return

  const file = await box.read(mail.mail_id, { attachment: '1' })

  const bytes = Buffer.from(file.content_base64 ?? '', 'base64').toString('latin1')
  expect(file.untrusted.attachment?.text ?? bytes).not.toContain(secret)
})

test.each(files)('as the text of the mail: %s', async (_, __, content, secret) => {
  const box = await openMailbox(product)
  await box.receive({ subject: 'Your login', text: content })

  expect((await box.newest()).untrusted.text?.text).not.toContain(secret)
})
