import fc from 'fast-check'
import { expect, test } from 'vitest'
import { htmlText } from '../../shared/mailbox/html/html-text.ts'

const text = (html: string) => htmlText(html).text

test.each([
  ['paragraphs and lines', '<p>a<p>b<br>c<div>d</div>e', 'a\n\nb\nc\nd\ne'],
  ['words over inline elements', '<b>1</b><i>2</i>3 <u>4</u>', '123 4'],
  ['cells', '<table><tr><td>1<td>2<tr><td>3</table>', '1 2\n3'],
  ['headings and lists', '<h1>a</h1><ul><li>b<li>c</ul>', 'a\n\nb\nc'],
  [
    'references',
    '&amp;&lt;b&gt;&eacute;&#8364;&#x1F44D;&euro;&unknown;&#0;&#150;',
    '&<b>é€👍€&unknown;\ufffd–',
  ],
  ['what is no markup', 'a < b && c <3 <!x> <?y?> </> d', 'a < b && c <3 d'],
  ['comments', 'a<!-- <p>x -->b<!-->c<!--->d<!-- e', 'abcd'],
  ['conditional comments', 'a<!--[if mso]><p>x</p><![endif]-->b<![if !mso]>c<![endif]>', 'abc'],
  ['scripts, styles and titles', '<title>t</title><script>"</p>"</script><style>p{}</style>a', 'a'],
  [
    'pictures and fields',
    '<img alt="code 12"><input value="34"><input type=hidden value=5>',
    'code 1234',
  ],
  ['attributes of all kinds', `<p title='>' id=">" class=a/b data-x>y`, 'y'],
])('reads %s as a person does', (_what, html, seen) => {
  expect(text(html)).toBe(seen)
})

const hide = (attributes: string) => `<div>seen<div ${attributes}>hidden <b>x</b></div>after</div>`
test.each([
  'style="display:none"',
  'style="DISPLAY : none !important"',
  'hidden',
  'aria-hidden=true',
  'style="visibility:hidden"',
  'style="opacity:0"',
  'style="opacity:0.00"',
  'style="font-size:0"',
  'style="font-size:1px;color:red"',
  'style="color:#fff"',
  'style="color:white"',
  'style="color:#FDFDFD"',
  'style="color:rgb(255, 255, 254)"',
  'style="color:#000;background:#010101 no-repeat"',
  'style="max-height:0;overflow:hidden"',
  'style="height:0px;overflow:hidden"',
  'style="text-indent:-9999px"',
  'style="position:absolute;left:-5000px"',
  'style="mso-hide:all"',
  'bgcolor=black',
  'class="other gone"',
  'id=away',
])('leaves out and counts what hides by %s', (attributes) => {
  const css = '<style>@media x{.seen{display:none}} /* .seen{} */ .gone,#away{display:none}</style>'
  expect(htmlText(css + hide(attributes))).toEqual({ text: 'seen\nafter', hiddenPieces: 2 })
})

test.each([
  [
    'a size within a size of nothing',
    '<td style="font-size:0"><p style="font-size:14px">seen</p></td>',
  ],
  ['white on black', '<td bgcolor="#000000"><font color="white">seen</font></td>'],
  ['white on a picture', '<td style="background:url(x.png)"><b style="color:#fff">seen</b></td>'],
  [
    'visible within invisible',
    '<p style="visibility:hidden"><b style="visibility:visible">seen</b></p>',
  ],
  ['hidden on other screens', '<style>@media print{p{display:none}}</style><p>seen</p>'],
  ['after a hidden paragraph without end', '<p style="display:none">x<p>seen'],
  ['after a hidden cell without end', '<table><tr><td hidden>x<td>seen</table>'],
  ['after a stray end', '<div hidden>x</span></b></div>seen'],
])('keeps %s', (_what, html) => {
  expect(text(html)).toBe('seen')
})

test.each([
  ['<a href="https://example.com/a">Go</a>', '[Go](https://example.com/a)'],
  [
    '<a href="https://paypal.com@evil.example/">paypal.com</a>',
    '[paypal.com](https://evil.example/)',
  ],
  ['<a href="HTTPS://EXAMPLE.com\\@evil.example">x</a>', '[x](https://example.com/@evil.example)'],
  ['<a href="https://раypal.com/">paypal.com</a>', '[paypal.com](https://xn--ypal-43d9g.com/)'],
  [
    '<a href="https://e.example/(a)">](https://good.example)</a>',
    '[)(https://good.example)](https://e.example/%28a%29)',
  ],
  ['<a href="javascript:x()">Go</a>', 'Go'],
  ['<a href="/relative">Go</a>', 'Go'],
  ['<a href="app://login?token=1">Go</a>', '[Go](app://login?token=1)'],
  [
    '<a href="https://a.example"><table><tr><td> Go\n on </table></a>',
    '[Go on](https://a.example/)',
  ],
  [
    '<a href="https://a.example">A<a href="https://b.example">B',
    '[A](https://a.example/)[B](https://b.example/)',
  ],
  ['<a href="https://a.example"><b hidden>x</b></a>y', 'y'],
])('shows where %s leads', (html, seen) => {
  expect(text(html)).toBe(seen)
})

test('never throws, and takes the time of its length', () => {
  const markup = `< > <p </ <!-- --> " ' = & &# ; <style> { } @ <div|hidden> </div> a /* <table> <td>`
  const pieces = markup.split(' ').map((piece) => piece.replace('|', ' '))
  const piece = fc.constantFrom(...pieces, '<a href=x:y>', '<script>', ' ', '\n')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      htmlText(pieces.join(''))
    }),
    { numRuns: 2_000 },
  )
  const units = ['<a ', '<td> ', '<a x="', '<a href=x:y>a']
  for (const unit of [...'<p> < <!-- <style>@ <style>/* <b> </b> &'.split(' '), ...units]) {
    htmlText(unit.repeat(Math.floor(300_000 / unit.length)))
  }
}, 20_000)
