"""Reports: facts of a release asked in SQL, drawn and written as one page (extra ``report``)."""
