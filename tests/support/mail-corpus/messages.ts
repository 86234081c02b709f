/** Complete messages to be broken: every part that a parser must not lose holds a mark of its own. */

/** A message, and the marks in its text parts, files and headers. */
export type Marked = { raw: string; marks: string[] }

const head = [
  'From: Ada Example <ada@mail.example>',
  'To: "Bob, B." <bob@agents.example>, team: c@agents.example;',
  'Subject: =?utf-8?B?R3LDvMOfZQ==?= markSubject',
  'Date: Sun, 22 Nov 2026 10:00:00 +0100',
  'Message-ID: <markId@mail.example>',
  'In-Reply-To: <markParent@mail.example>',
  'References: <markRoot@mail.example>',
  ' <markParent@mail.example>',
  'MIME-Version: 1.0',
]
const headMarks = ['markSubject', 'markId', 'markParent', 'markRoot']

const alternative = `Content-Type: multipart/alternative; boundary="b1"

--b1
Content-Type: text/plain

markPlain
--b1
Content-Type: text/html

<p>markHtml</p>
--b1--
`

const nested = `Content-Type: multipart/mixed;
 boundary=outer

--outer
Content-Type: multipart/related; boundary=inner

--inner
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

<b>markHtml</b> =C3=BC
--inner
Content-Type: image/png; name="a.png"
Content-ID: <a>

markImage
--inner--
--outer
Content-Type: text/csv
Content-Disposition: attachment; filename="=?utf-8?q?=C3=BC?=.csv"

markFile,1
--outer
Content-Type: message/rfc822

Subject: in

markInner
--outer--
`

export const messages: Marked[] = [
  of('Content-Type: text/plain; charset=utf-8\n\nHello markPlain\n\n.x', 'markPlain'),
  of(alternative, 'markPlain', 'markHtml'),
  of(nested, 'markHtml', 'markImage', 'markFile', 'markInner'),
]

function of(rest: string, ...marks: string[]): Marked {
  const lines = [...head, ...rest.split('\n')]
  return { raw: lines.join('\r\n'), marks: [...headMarks, ...marks] }
}
