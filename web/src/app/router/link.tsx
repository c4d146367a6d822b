import type { AnchorHTMLAttributes, MouseEvent } from 'react'
import { navigate } from './location'

/** A link within the console: a real address, so that it can be opened in another tab or copied. */
export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  function follow(event: MouseEvent<HTMLAnchorElement>) {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !isPlain) return
    event.preventDefault()
    navigate(href)
  }
  // eslint-disable-next-line jsx-a11y/anchor-has-content -- its content is among the properties
  return <a href={href} onClick={follow} {...rest} />
}
