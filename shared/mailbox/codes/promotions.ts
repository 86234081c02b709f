/** Tells the codes that advertisements give to everybody from secrets: by form, and by what they promise. */
import { foldText } from './folded-text.ts'
import type { Span } from './spans.ts'
import { lineEnd, lineStart } from './text-lines.ts'

/** A word in capitals, with a number of up to four digits or without one. */
const form = /^\p{Lu}{3,14}[-_]?\d{0,4}$/u

const words = `off discount checkout basket sale offer deal coupon free-delivery free-shipping rabatt gutschein
  warenkorb versand soldes remise reduction livraison-offerte panier descuento rebaja oferta cupon envio-gratis
  sconto saldi offerta carrello spedizione-gratuita desconto promo frete-gratis korting aanbieding winkelwagen
  znizk koszyk darmow скидк акци корзин indirim kampanya sepet sleva slevu zlav kedvezm reducere popust alennus
  rabat 优惠 优惠券 折扣 满减 割引 セール クーポン 할인 쿠폰 خصم הנחה छूट ส่วนลด giảm-giá diskon έκπτωση`

const alternatives = foldText(words).text.trim().split(/\s+/).join('|').replaceAll('-', ' ')
const promising = new RegExp(`\\d ?%|% ?\\d|(?<!\\p{L})(?:${alternatives})`, 'u')

/** Returns true if a value has the form of a promotion's code and its line, or one beside it, promises something. */
export function isPromotion(text: string, { start, end }: Span, written: string): boolean {
  if (!form.test(written)) return false
  const from = lineStart(text, Math.max(0, lineStart(text, start) - 1))
  return promising.test(text.slice(from, lineEnd(text, end)))
}
