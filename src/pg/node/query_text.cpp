#include "pg/node/query_text.hpp"

#include <algorithm>

#include "pg/compat/query_id.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "parser/analyze.h"
#include "parser/scanner.h"
#include "utils/hsearch.h"
}

namespace strom::pg::node {

namespace {

constexpr long kMostTexts = 1000;  // of a session; when reached, all are dropped

struct NotedText {
  uint64_t query_id;
  char* text;
};

HTAB* texts = nullptr;
MemoryContext texts_memory = nullptr;
post_parse_analyze_hook_type next_analyze_hook = nullptr;

NotedText* look_up(uint64_t query_id, HASHACTION action) {
  return texts == nullptr ? nullptr : static_cast<NotedText*>(hash_search(texts, &query_id, action, nullptr));
}

void make_room() {
  if (texts != nullptr && hash_get_num_entries(texts) < kMostTexts) return;
  texts = nullptr;
  if (texts_memory == nullptr)
    texts_memory = AllocSetContextCreate(TopMemoryContext, "pg_strom query texts", ALLOCSET_DEFAULT_SIZES);
  MemoryContextReset(texts_memory);
  HASHCTL control;
  MemSet(&control, 0, sizeof(control));
  control.keysize = sizeof(uint64_t);
  control.entrysize = sizeof(NotedText);
  control.hcxt = texts_memory;
  texts = hash_create("pg_strom query texts", kMostTexts, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

int by_place(const void* a, const void* b) {
  return static_cast<const LocationLen*>(a)->location - static_cast<const LocationLen*>(b)->location;
}

/// Finds where the tokens of a text end.
class Tokens {
 public:
  explicit Tokens(const char* text) : text_(text) {
    scanner_ = scanner_init(text, &extra_, &ScanKeywords, ScanKeywordTokens);
    extra_.escape_string_warning = false;  // the warning was given when the statement was parsed
  }

  // The length of the constant at `place`, which is behind the places of earlier calls; negative if there is none.
  int length_at(int place) {
    YYLTYPE at = 0;
    do {
      if (core_yylex(&value_, &at, scanner_) == 0) return -1;
    } while (at < place);
    // A negative number consists of two tokens, the first of which is at `place`.
    if (text_[place] == '-' && core_yylex(&value_, &at, scanner_) == 0) return -1;
    return static_cast<int>(strlen(extra_.scanbuf + place));  // flex ends the token with a zero byte
  }

  void end() { scanner_finish(scanner_); }

 private:
  const char* text_;
  core_yyscan_t scanner_;
  core_yy_extra_type extra_;
  core_YYSTYPE value_;
};

// Replaces constants in `text`, which begins at `offset` of the parsed text.
char* normalised(const char* text, int offset, const JumbleState* state) {
  const int count = state->clocations_count;
  auto* places = static_cast<LocationLen*>(palloc(sizeof(LocationLen) * static_cast<size_t>(count)));
  memcpy(places, state->clocations, sizeof(LocationLen) * static_cast<size_t>(count));
  qsort(places, static_cast<size_t>(count), sizeof(LocationLen), by_place);
  Tokens tokens(text);
  StringInfoData result;
  initStringInfo(&result);
  int copied = 0, last = -1, number = compat::numbers_taken(state);
  for (int i = 0; i < count; ++i) {
    const int place = places[i].location - offset;
    if (place <= last || compat::is_named_parameter(state, places[i])) continue;  // not a new constant
    const bool is_list = compat::is_squashed(places[i]);
    const int length = is_list ? places[i].length : tokens.length_at(place);
    if (length < 0) break;
    appendBinaryStringInfo(&result, text + copied, place - copied);
    appendStringInfo(&result, "$%d%s", ++number, is_list ? " /*, ... */" : "");
    copied = place + length;
    last = is_list ? copied - 1 : place;
  }
  tokens.end();
  appendStringInfoString(&result, text + copied);
  pfree(places);
  return result.data;
}

void on_parsed(ParseState* parse, Query* query, JumbleState* state) {
  if (next_analyze_hook != nullptr) next_analyze_hook(parse, query, state);
  if (state == nullptr || state->clocations_count == 0 || query->utilityStmt != nullptr || query->queryId == 0) return;
  const auto id = static_cast<uint64_t>(query->queryId);
  if (look_up(id, HASH_FIND) != nullptr) return;
  int offset = query->stmt_location, length = query->stmt_len;
  const char* begin = CleanQuerytext(parse->p_sourcetext, &offset, &length);
  char* text = pnstrdup(begin, static_cast<Size>(length));
  char* shown = normalised(text, offset, state);
  make_room();
  char* noted = MemoryContextStrdup(texts_memory, shown);
  look_up(id, HASH_ENTER)->text = noted;
  pfree(shown);
  pfree(text);
}

}  // namespace

void note_query_texts() {
  next_analyze_hook = post_parse_analyze_hook;
  post_parse_analyze_hook = on_parsed;
}

const char* noted_text(uint64_t query_id) {
  const NotedText* noted = look_up(query_id, HASH_FIND);
  return noted == nullptr ? nullptr : noted->text;
}

}  // namespace strom::pg::node
