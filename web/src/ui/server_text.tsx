import type { ReactNode } from 'react'
import { useLanguage } from '../i18n/language'

/**
 * A sentence that the server made, which is in English whatever the console speaks: translated where it is known, with the server's own
 * words as its title, else told to be English to readers that are machines. What its code means stands before it in the reader's language,
 * where the code is known.
 */
export function ServerText({ label, children }: { label?: ReactNode; children: string }) {
  const { language, sentence } = useLanguage()
  const translated = language === 'en' ? null : sentence(children)
  return (
    <>
      {label ? <><strong>{label}</strong>: </> : null}
      {language === 'en' ? children : translated === null ? <span lang="en">{children}</span> : <span title={children}>{translated}</span>}
    </>
  )
}
