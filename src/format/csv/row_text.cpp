// See row_text.hpp.
#include "format/csv/row_text.hpp"

#include <string_view>
#include <utility>

#include "columnar/layout.hpp"
#include "format/csv/column_plan.hpp"
#include "format/csv/row_tiles.hpp"
#include "format/csv/text_form.hpp"

namespace strom::format::csv {

namespace {

using columnar::Field;
using columnar::Layout;

/// Other characters would break values that are not text, or be mistaken for a part of them.
bool can_separate(char c) {
  const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return !is_alphanumeric && c > 0 && std::string_view("+-.: \\\r\n").find(c) == std::string_view::npos;
}

Status check_options(const TextOptions& options) {
  const bool is_csv = options.style == Style::kCsv;
  if (!is_csv && options.style != Style::kTsv) return Status::ok();
  if (!can_separate(options.delimiter)) {
    return Status(ErrorCode::kInvalidParameter, "this character cannot separate values")
        .with_detail("Letters, digits, blanks, line ends, '+', '-', '.', ':' and '\\' are parts of values.");
  }
  if (is_csv && (!can_separate(options.quote) || options.quote == options.delimiter)) {
    return Status(ErrorCode::kInvalidParameter, "this character cannot quote values");
  }
  const std::string stop =
      is_csv ? std::string("\r\n") + options.delimiter + options.quote : "\r\n" + std::string(1, options.delimiter);
  if (options.null_text.find_first_of(stop) != std::string::npos) {
    return Status(ErrorCode::kInvalidParameter,
                  "the text for null cannot have line ends, nor the characters that separate and quote values");
  }
  return Status::ok();
}

template <class Form>
std::string written(const Form& form, const std::string& text) {
  const auto size = static_cast<int64_t>(text.size());
  std::string out(static_cast<size_t>(Form::room(size) + 2), '\0');
  char* end = out.data();
  if (tiles::has_special(form, text.data(), size)) {
    end = form.put_special(end, text.data(), size);
  } else if (form.needs_quotes(text.data(), size)) {
    *end++ = form.quote;
    end = put_bytes(end, text.data(), size);
    *end++ = form.quote;
  } else {
    end = put_bytes(end, text.data(), size);
  }
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

bool is_number(const Field& field) {
  return columnar::value_width(field.layout, field.byte_width) > 0 && field.layout <= Layout::kDecimal128;
}

/// True for a null text that could be mistaken for a number, a date or a truth value.
bool looks_plain(const std::string& text) {
  if (text.empty()) return false;
  return std::string_view("0123456789-tfNI").find(text[0]) != std::string_view::npos;
}

template <class Form>
std::shared_ptr<const RowText> separated(const Form& form, std::vector<Column> columns, const TextOptions& options,
                                         bool check_plain) {
  std::string header;
  for (size_t i = 0; i < columns.size(); ++i) {
    const bool is_last = i + 1 == columns.size();
    const std::string behind(1, is_last ? '\n' : options.delimiter);
    set_behind(columns[i].frame, behind);
    header += written(form, columns[i].field.name) + behind;
  }
  return std::make_shared<RowTextOf<Form>>(form, header, std::move(columns), "\n", check_plain);
}

std::shared_ptr<const RowText> csv_text(std::vector<Column> columns, const TextOptions& options) {
  CsvForm form;
  form.delimiter = options.delimiter;
  form.quote = options.quote;
  form.quote_all = options.quote_all;
  form.is_only_column = columns.size() == 1;
  form.null_text = options.null_text;
  return separated(form, std::move(columns), options, options.quote_all || looks_plain(options.null_text));
}

std::shared_ptr<const RowText> json_text(std::vector<Column> columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    set_before(columns[i].frame, (i == 0 ? "{" : ",") + written(JsonForm(), columns[i].field.name) + ":");
    if (i + 1 == columns.size()) set_behind(columns[i].frame, "}\n");
  }
  return std::make_shared<RowTextOf<JsonForm>>(JsonForm(), "", std::move(columns), "{}\n", false);
}

std::shared_ptr<const RowText> markdown_text(std::vector<Column> columns) {
  std::string names = "|", rule = "|";
  for (size_t i = 0; i < columns.size(); ++i) {
    set_before(columns[i].frame, i == 0 ? "| " : " | ");
    if (i + 1 == columns.size()) set_behind(columns[i].frame, " |\n");
    names += " " + written(MarkdownForm(), columns[i].field.name) + " |";
    rule += is_number(columns[i].field) ? "---:|" : "---|";
  }
  return std::make_shared<RowTextOf<MarkdownForm>>(MarkdownForm(), names + "\n" + rule + "\n", std::move(columns),
                                                   "|\n", false);
}

}  // namespace

Result<std::shared_ptr<const RowText>> RowText::create(const std::vector<Field>& fields, const TextOptions& options) {
  STROM_TRY(check_options(options));
  STROM_ASSIGN(std::vector<Column> columns, plan_columns(fields, options));
  switch (options.style) {
    case Style::kCsv: return csv_text(std::move(columns), options);
    case Style::kTsv: {
      TsvForm form;
      form.delimiter = options.delimiter;
      return separated(form, std::move(columns), options, false);
    }
    case Style::kJsonLines: return json_text(std::move(columns));
    case Style::kMarkdown: return markdown_text(std::move(columns));
  }
  return Status(ErrorCode::kInternal, "no such style");
}

}  // namespace strom::format::csv
