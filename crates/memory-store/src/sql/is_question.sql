/* Of what asks: without its mark it does so only as a question, see asks.sql. */
(case when right(rtrim(text, E' \n\r\t"'), 1) in ('?', '？')
 then right(text, 300) ~* '(^|[.!?,:;\n]\s*)((and|so|but|also|ok|hey|then),? )?(what|who|whose|when|where|which|why|how|is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|shall|may|any|anyone|anybody)(''s|s)?\M[^.!;\n]*$'
 else length(text) <= 160 end)
