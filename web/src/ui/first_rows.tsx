import { Button } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { useText } from '../i18n/language'
import { afterNextFrame } from './after_next_frame'
import styles from './first_rows.module.css'

// What a screen shows of a list, and a little more. To draw thousands of rows takes seconds, and each is drawn again when a filter changes.
const rowsAtFirst = 50
// For each time that more are asked for.
const moreRows = 100

/** The first rows of a list that is here; the others when they are asked for (CSV has all). `atFirst`: how many, where a page has many lists. */
export function useFirstRows<Row>(rows: readonly Row[], atFirst = rowsAtFirst) {
  const [most, setMost] = useState(atFirst)
  return { drawn: rows.length > most ? rows.slice(0, most) : rows, hasMore: rows.length > most, drawMore: () => setMost((before) => before + moreRows) }
}

/**
 * Below a list: how many of its rows are shown, and a button for more, if there are. `of`: what the list is called, for those who do not
 * see it above. `onMore` may give a promise of the end of what it began.
 */
export function ListFoot({ of, shown, hasMore, isBusy = false, onMore }: { of: string; shown: number; hasMore: boolean; isBusy?: boolean; onMore: () => unknown }) {
  const t = useText()
  const [isAsked, setAsked] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const hadFocus = useRef(false)
  const isWaiting = isAsked || isBusy
  // To ask for rows and to draw them takes longer than a frame where there are many already: first is shown that the click was heard.
  function ask() {
    hadFocus.current = document.activeElement === button.current
    setAsked(true)
    afterNextFrame(async () => {
      try {
        await onMore()
      } finally {
        setAsked(false)
      }
    })
  }
  // While it waits the button is disabled, and what is disabled has no focus: whoever works by keyboard gets it back.
  useEffect(() => {
    if (isWaiting || !hadFocus.current) return
    hadFocus.current = false
    if (document.activeElement === document.body) button.current?.focus({ preventScroll: true })
  }, [isWaiting])
  return (
    <div className={styles.foot}>
      <span>{t(hasMore ? 'ui.shown.more' : 'ui.shown', { n: shown })}</span>
      {hasMore ? <Button aria-label={`${t('ui.more')}: ${of}`} ref={button} loading={isWaiting} onClick={ask}>{t('ui.more')}</Button> : null}
    </div>
  )
}
