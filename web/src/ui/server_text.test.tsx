import { MantineProvider } from '@mantine/core'
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, it } from 'vitest'
import { ApiError } from '../api/problem'
import { en } from '../i18n/en'
import { type Language, LanguageProvider } from '../i18n/language'
import { translateZh } from '../i18n/sentences/zh'
import { zh } from '../i18n/zh'
import { ServerText } from './server_text'
import { ErrorState } from './states'

afterEach(cleanup)

function show(language: Language, what: React.ReactNode) {
  const texts = language === 'zh' ? { dictionary: zh, sentence: translateZh } : { dictionary: en }
  render(<MantineProvider env="test"><LanguageProvider language={language} {...texts}>{what}</LanguageProvider></MantineProvider>)
}

it('a sentence of the server is marked as English where the console speaks otherwise', () => {
  show('zh', <p><ServerText label="配额">project x has no units left</ServerText></p>)
  expect(screen.getByText('project x has no units left').lang).toBe('en')
  screen.getByText('配额')
})

it('a sentence that is known is told in the reader’s language, with the server’s words as its title', () => {
  show('zh', <p><ServerText>would end after the deadline</ServerText></p>)
  const said = screen.getByText('会在截止时间之后结束')
  expect([said.lang, said.title]).toEqual(['', 'would end after the deadline'])
  cleanup()
  show('en', <p><ServerText>would end after the deadline</ServerText></p>)
  screen.getByText('would end after the deadline')
})

it('the fields of a refusal are told in the reader’s language', () => {
  const problem = { type: 'about:blank', title: 'Invalid', status: 400, detail: 'the job has 1 error', code: 'invalid' as const, request_id: 'req_1',
    errors: [{ field: 'units.count', detail: 'is required' }] }
  show('zh', <ErrorState error={new ApiError(400, problem.detail, problem)} />)
  screen.getByText('作业有 1 处错误')
  screen.getByText('必填')
})

it('an error is named by its code in the reader’s language, and keeps the server’s words', () => {
  const problem = { type: 'about:blank', title: 'Conflict', status: 409, detail: 'it has ended already', code: 'conflict' as const, request_id: 'req_1' }
  show('zh', <ErrorState error={new ApiError(409, problem.detail, problem)} />)
  screen.getByText(zh['ui.code.conflict'])
  expect(screen.getByText('it has ended already').lang).toBe('en')
})

it('an error with a code that this console does not know is an error all the same', () => {
  const problem = { type: 'about:blank', title: 'Odd', status: 418, detail: 'odd', code: 'newer' as 'conflict', request_id: 'req_1' }
  show('en', <ErrorState error={new ApiError(418, problem.detail, problem)} />)
  screen.getByText(en['ui.error.title'])
})
