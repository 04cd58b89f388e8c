// Headers and lines of VCF: what each form of field becomes, and what is refused.
#include "format/vcf/variants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace strom::format::vcf {
namespace {

using columnar::ColumnBuilder;

constexpr const char* kHeader =
    "##fileformat=VCFv4.2\n"
    "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"a, \\\"quoted\\\" text\">\n"
    "##INFO=<ID=AF,Number=A,Type=Float,Description=\"\">\n"
    "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
    "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\ttwo\n";

struct Parsed {
  Status status;
  std::vector<ColumnBuilder> columns;
  int64_t line = 0;
};

Parsed parse(const std::string& lines, const ColumnChoice& choice = {}, const char* text = kHeader) {
  size_t begin = 0;
  const auto header = parse_header(text, &begin);
  EXPECT_TRUE(header.is_ok()) << header.status().message();
  const auto layout = Layout::create(header.value(), choice);
  EXPECT_TRUE(layout.is_ok());
  Parsed parsed;
  parsed.columns.reserve(layout.value().fields().size());
  for (const auto& field : layout.value().fields()) parsed.columns.emplace_back(field);
  const auto variants = Variants::create(layout.value(), nullptr, parsed.columns);
  parsed.status = variants->append(lines);
  parsed.line = variants->failed();
  return parsed;
}

std::string text_at(const ColumnBuilder& column, int64_t row) {
  const auto* offsets = column.values().as<int32_t>();
  return {reinterpret_cast<const char*>(column.data().data()) + offsets[row],
          static_cast<size_t>(offsets[row + 1] - offsets[row])};
}

TEST(VcfHeader, DescriptionsHaveCommasAndQuotes) {
  size_t begin = 0;
  const auto header = parse_header(kHeader, &begin);
  ASSERT_TRUE(header.is_ok());
  EXPECT_EQ(header.value().info[0].description, "a, \"quoted\" text");
  EXPECT_EQ(header.value().samples, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(begin, std::string(kHeader).size());
}

TEST(VcfHeader, IsWholeWithTheEndOfItsLastLine) {
  const std::string text = kHeader;
  EXPECT_TRUE(has_whole_header(text));
  EXPECT_FALSE(has_whole_header(text.substr(0, text.size() - 1)));
  EXPECT_FALSE(has_whole_header("##fileformat=VCFv4.2\n"));
}

/// The first definition of a header's INFO, or of its FORMAT, which is that line.
FieldDefinition definition_of(const std::string& line) {
  size_t begin = 0;
  const auto header = parse_header(
      "##fileformat=VCFv4.0\n##" + line + "\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\n", &begin);
  EXPECT_TRUE(header.is_ok()) << header.status().message();
  if (!header.is_ok()) return {};
  return header.value().info.empty() ? header.value().format.at(0) : header.value().info[0];
}

TEST(VcfHeader, OldDefinitionsAreSeenThrough) {
  FieldDefinition field = definition_of("FORMAT=<ID=GT,Number=-1,Type=Integer,Description=\"\">");
  EXPECT_EQ(field.type, ValueType::kString);
  EXPECT_EQ(field.number, 1);
  EXPECT_EQ(field.count, Count::kFixed);
  field = definition_of("INFO=<ID=GT,Number=-1,Type=Integer,Description=\"\">");
  EXPECT_EQ(field.type, ValueType::kInteger);
  EXPECT_EQ(field.count, Count::kAny);
  EXPECT_EQ(definition_of("INFO=<ID=X,Number=0,Type=String,Description=\"\">").type, ValueType::kFlag);
  EXPECT_EQ(definition_of("FORMAT=<ID=X,Number=0,Type=String,Description=\"\">").type, ValueType::kString);
}

TEST(VcfColumns, PositionsAreTooLarge) {
  EXPECT_EQ(parse("1\t3000000000\t.\tA\tC\t.\t.\t.\tGT\t0\t1\n").status.message(), "POS \"3000000000\" is too large");
  EXPECT_EQ(parse("1\t30x\t.\tA\tC\t.\t.\t.\tGT\t0\t1\n").status.message(), "POS \"30x\" is no number");
  EXPECT_EQ(parse("1\t\t.\tA\tC\t.\t.\t.\tGT\t0\t1\n").status.message(), "POS \"\" is no number");
}

TEST(VcfHeader, SamplesHaveDifferentNames) {
  size_t begin = 0;
  const auto header =
      parse_header("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\tS1\n", &begin);
  EXPECT_EQ(header.status().code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(header.status().message(), "sample \"S1\" for the second time in line 2");
}

TEST(VcfColumns, ARowForEachAllele) {
  Parsed parsed = parse("1\t10\t.\tA\tC,G\t.\tPASS\tAF=0.25,1e-3;DP=7\tGT\t0|1\t2|2\n");
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  ASSERT_EQ(parsed.columns[0].length(), 2);
  EXPECT_EQ(text_at(parsed.columns[4], 1), "G");
  EXPECT_EQ(parsed.columns[7].values().as<int32_t>()[1], 7);
  EXPECT_EQ(parsed.columns[8].values().as<float>()[0], 0.25F);
  EXPECT_EQ(parsed.columns[8].values().as<float>()[1], 1e-3F);
  EXPECT_EQ(text_at(parsed.columns[10], 1), "2|2");
}

TEST(VcfColumns, DosagesCountTheRowsAllele) {
  ColumnChoice choice;
  choice.genotypes = Genotypes::kDosage;
  Parsed parsed = parse("1\t10\t.\tA\tC,G\t.\tPASS\t.\tGT\t1/2\t./2\n", choice);
  ASSERT_TRUE(parsed.status.is_ok());
  EXPECT_EQ(parsed.columns[9].values().as<int8_t>()[0], 1);
  EXPECT_EQ(parsed.columns[9].values().as<int8_t>()[1], 1);
  EXPECT_EQ(parsed.columns[10].null_count(), 2);
}

TEST(VcfColumns, MoreGenotypesThanIndexesAreRefused) {
  ColumnChoice choice;
  choice.genotypes = Genotypes::kDictionary;
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "1\t10\t.\tA\tC\t.\tPASS\t.\tGT\t" + std::to_string(i) + "\t0|1\n";
    return text;
  };
  Parsed parsed = parse(lines(INT16_MAX), choice);  // and 0|1
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  EXPECT_NE(parsed.columns[9].values().as<int16_t>()[0], parsed.columns[9].values().as<int16_t>()[1]);
  EXPECT_EQ(parsed.columns[10].values().as<int16_t>()[0], parsed.columns[10].values().as<int16_t>()[1]);
  parsed = parse(lines(INT16_MAX + 1), choice);
  EXPECT_EQ(parsed.status.code(), ErrorCode::kOverBudget);
  EXPECT_EQ(parsed.line, INT16_MAX + 1);
}

/// What a column of two samples' has in all rows: values, and - for NULL.
std::string texts_of(const ColumnBuilder& column) {
  std::string texts;
  for (int64_t row = 0; row < column.length(); ++row) {
    if (!column.is_valid(row))
      texts += "-";
    else if (column.field().layout == columnar::Layout::kUtf8)
      texts += text_at(column, row);
    else if (column.field().layout == columnar::Layout::kInt8)
      texts += std::to_string(column.values().as<int8_t>()[row]);
    else if (column.field().layout == columnar::Layout::kInt32)
      texts += std::to_string(column.values().as<int32_t>()[row]);
    else
      texts += "[" + std::to_string(column.values().as<int32_t>()[row + 1] - column.values().as<int32_t>()[row]) + "]";
    texts += " ";
  }
  return texts;
}

/// The numbers of a list's elements, - for NULL.
std::string list_at(const ColumnBuilder& column, int64_t row) {
  const ColumnBuilder& elements = column.children()[0];
  const int64_t width = column.field().byte_width;
  std::string text;
  for (int64_t i = row * width; i < (row + 1) * width; ++i)
    text += (elements.is_valid(i) ? std::to_string(elements.values().as<int8_t>()[i]) : "-") + " ";
  return column.is_valid(row) ? text : "none";
}

TEST(VcfColumns, EndsAreThoseOfInfoOrOfTheReference) {
  ColumnChoice choice;
  choice.has_end = choice.no_info = choice.no_samples = true;
  const std::string begin = "1\t10\t.\tACGT\t", behind = "\tGT\t0|1\t0|0\n", largest = std::to_string(INT32_MAX);
  const std::string lines = begin + "C,G\t.\tPASS\tEND=90" + behind + begin + "C\t.\tPASS\tDP=1;END=10" + behind +
                            begin + "C\t.\tPASS\tEND=9" + behind + begin + "C\t.\tPASS\tEND=." + behind + begin +
                            "C\t.\tPASS\t." + behind + begin + "C\t.\tPASS\tEND=99999999999" + behind + "1\t" +
                            largest + "\t.\tAC\tC\t.\tPASS\t." + behind;
  std::string header = kHeader;
  header.insert(header.find("##FORMAT"), "##INFO=<ID=END,Number=1,Type=Integer,Description=\"\">\n");
  const Parsed parsed = parse(lines, choice, header.c_str());
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  ASSERT_EQ(parsed.columns.size(), 8U);
  EXPECT_EQ(parsed.columns[7].field().name, "end_pos");
  EXPECT_EQ(texts_of(parsed.columns[7]), "90 90 10 13 13 13 " + largest + " " + largest + " ");
}

TEST(VcfColumns, ListsHaveTheAllelesOfAllSamples) {
  const std::string begin = "1\t10\t.\tA\tC,G\t.\tPASS\t.\t";
  const std::string lines =
      begin + "GT\t1/2\t.|0\n" + begin + "GT\t12|127\t1\n" + begin + ".\t.\t.\n" + begin + "GT\t.\t/0/1\n";
  ColumnChoice choice;
  choice.genotypes = Genotypes::kLists;
  choice.is_whole = choice.undeclared_is_left_out = true;
  const Parsed parsed = parse(lines, choice);
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  ASSERT_EQ(parsed.columns.size(), 10U);
  const char* wanted[] = {"1 2 - 0 ", "12 127 1 -2 ", "none", "- - 0 1 "};
  for (int64_t row = 0; row < 4; ++row) EXPECT_EQ(list_at(parsed.columns[9], row), wanted[row]);
  for (const char* wrong : {"0|128", "0|1|1", "0|x", "-1|0"}) {
    const Parsed failed = parse(begin + "GT\t0|0\t0|0\n" + begin + "GT\t0|0\t" + wrong + "\n", choice);
    EXPECT_EQ(failed.status.code(), ErrorCode::kTypeMismatch) << wrong;
    EXPECT_EQ(failed.line, 2) << wrong;
  }
}

TEST(VcfColumns, ListsHaveChosenSamplesAndAnyPloidy) {
  ColumnChoice choice;
  choice.genotypes = Genotypes::kLists;
  choice.ploidy = 3;
  choice.samples = {"two"};
  const Parsed parsed =
      parse("1\t10\t.\tA\tC,G\t.\tPASS\t.\tGT\t0|0\t0/1/2\n1\t10\t.\tA\tC\t.\t.\t.\tGT\t0|0\t1|0\n", choice);
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  ASSERT_EQ(parsed.columns[9].length(), 3);  // the first line is two rows
  for (const int64_t row : {0, 1}) EXPECT_EQ(list_at(parsed.columns[9], row), "0 1 2 ");
  EXPECT_EQ(list_at(parsed.columns[9], 2), "1 0 -2 ");
}

std::string header_of(int samples) {
  std::string text = kHeader;
  text.resize(text.find("\tone"));
  for (int i = 0; i < samples; ++i) text += "\ts" + std::to_string(i);
  return text + "\n";
}

/// Blocks of them are looked at at once, and the number of samples says where the line ends.
TEST(VcfColumns, PairsOfAnyNumberOfSamples) {
  ColumnChoice lists;
  lists.genotypes = Genotypes::kLists;
  const char* cells[] = {"0|1", "./.", "9/0", "1|.", "3/7"};
  const char* wanted[] = {"0 1 ", "- - ", "9 0 ", "1 - ", "3 7 "};
  for (const int samples : {1, 2, 7, 8, 9, 15, 16, 17, 40}) {
    const std::string header = header_of(samples);
    std::string lines, rows[3];
    for (int row = 0; row < 3; ++row) {
      lines += "1\t10\t.\tA\tC\t.\tPASS\t.\tGT";
      for (int i = 0; i < samples; ++i) {
        lines += std::string("\t") + cells[(row * 3 + i) % 5];
        rows[row] += wanted[(row * 3 + i) % 5];
      }
      lines += row == 1 ? "\r\n" : row == 0 ? "\n" : "";
    }
    const Parsed parsed = parse(lines, lists, header.c_str());
    ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
    for (int row = 0; row < 3; ++row) EXPECT_EQ(list_at(parsed.columns[9], row), rows[row]) << samples;
    // One other byte anywhere in the samples of the first line: the line is wrong, or has another value, as the one
    // with a sample more on the other way has.
    const size_t end = lines.find('\n'), begin = lines.find("GT\t") + 3;
    for (size_t at = begin; at < end; ++at) {
      for (const char other : {'x', '\t', '/', ':', '-', '\x7f', '0'}) {
        std::string changed = lines.substr(0, end + 1);
        changed[at] = other;
        const Parsed one = parse(changed, lists, header.c_str());
        std::string longer = changed;
        longer.insert(longer.size() - 1, "\t10|1");
        const Parsed two = parse(longer, lists, header_of(samples + 1).c_str());
        ASSERT_EQ(one.status.is_ok(), two.status.is_ok()) << changed;
        if (one.status.is_ok()) {
          EXPECT_EQ(list_at(one.columns[9], 0) + "10 1 ", list_at(two.columns[9], 0)) << changed;
        } else {
          EXPECT_EQ(one.status.message(), two.status.message());
        }
      }
    }
  }
}

/// The next line's samples are not this one's.
TEST(VcfColumns, ALineWithoutSamplesBeforeOneOfPairs) {
  const std::string begin = "1\t10\t.\tA\tC\t.\tPASS\t.\t";
  for (const std::string& line : {begin + "GT\n", begin + "GT\t\n", begin + "\n"}) {
    const Parsed parsed = parse(line + begin + "GT\t0|1\t1|1\n");
    EXPECT_FALSE(parsed.status.is_ok()) << line;
    EXPECT_EQ(parsed.line, 1) << line;
  }
}

/// Genotypes of two alleles with one digit go another way than all others.
TEST(VcfColumns, PairsAmongOtherGenotypesStayInOrder) {
  std::string lines, texts[2], dosages[2];
  const char* cells[] = {"0|1", "1/1", ".|.", "0/.", "2|1", "1", "10|1", "0|1/1", "./."};
  constexpr int kRows = 1000;
  for (int row = 0; row < kRows; ++row) {
    lines += "1\t10\t.\tA\tC\t.\tPASS\t.\tGT";
    for (int sample = 0; sample < 2; ++sample) {
      // Runs of pairs that are longer than what waits, and others.
      const std::string cell = cells[(row % 200 < 150 ? row * 7 + sample : row + sample) % (row % 200 < 150 ? 5 : 9)];
      lines += "\t" + cell;
      texts[sample] += cell + " ";
      int count = 0;
      for (size_t at = 0; at < cell.size(); at = std::min(cell.find_first_of("|/", at), cell.size()) + 1)
        count += cell.substr(at, std::min(cell.find_first_of("|/", at), cell.size()) - at) == "1" ? 1 : 0;
      dosages[sample] += (cell.find('.') != std::string::npos ? "-" : std::to_string(count)) + " ";
    }
    lines += "\n";
  }
  ColumnChoice choice;
  const Parsed as_text = parse(lines, choice);
  choice.genotypes = Genotypes::kDosage;
  const Parsed as_dosage = parse(lines, choice);
  ASSERT_TRUE(as_text.status.is_ok() && as_dosage.status.is_ok());
  for (size_t sample = 0; sample < 2; ++sample) {
    EXPECT_EQ(texts_of(as_text.columns[9 + sample]), texts[sample]);
    EXPECT_EQ(texts_of(as_dosage.columns[9 + sample]), dosages[sample]);
  }
}

TEST(VcfColumns, FieldsOfSamplesComeAndGo) {
  constexpr const char* kFields =
      "##fileformat=VCFv4.2\n"
      "##FORMAT=<ID=GT,Number=1,Type=String,Description=\"\">\n"
      "##FORMAT=<ID=DP,Number=1,Type=Integer,Description=\"\">\n"
      "##FORMAT=<ID=AD,Number=R,Type=Integer,Description=\"\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tone\ttwo\n";
  const std::string begin = "1\t10\t.\tA\tC\t.\tPASS\t.\t";
  const std::string lines = begin + "GT\t0\t1\n" + begin + "GT\t2\t3\n" + begin + "DP:GT\t5:4\t6\n" + begin +
                            "AD\t1,2\t.\n" + begin + "GT:AD\t7:8\t9\n" + begin + "GT:GT\t1:2\t3:4\n";
  for (const bool is_whole : {false, true}) {
    ColumnChoice choice;
    choice.is_whole = is_whole;
    const Parsed parsed = parse(lines, choice, kFields);
    ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
    ASSERT_EQ(parsed.columns.size(), 13U);
    EXPECT_EQ(texts_of(parsed.columns[7]), "0 2 4 - 7 2 ");
    EXPECT_EQ(texts_of(parsed.columns[8]), "- - 5 - - - ");
    EXPECT_EQ(texts_of(parsed.columns[9]), is_whole ? "- - - [2] [1] - " : "- - - 1,2 8 - ");
    EXPECT_EQ(texts_of(parsed.columns[10]), "1 3 - - 9 4 ");
    EXPECT_EQ(texts_of(parsed.columns[11]), "- - 6 - - - ");
    EXPECT_EQ(texts_of(parsed.columns[12]), "- - - - - - ");
  }
}

TEST(VcfColumns, FieldsThatNoSampleHasAreNullInAnyNumber) {
  std::string lines;
  constexpr int kLines = 10000;  // more than one block
  for (int i = 0; i < kLines; ++i) lines += "1\t10\t.\tA\tC\t.\tPASS\t.\t.\t.\t.\n";
  ColumnChoice choice;
  choice.undeclared_is_left_out = true;
  const Parsed parsed = parse(lines, choice);
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  EXPECT_EQ(parsed.columns[9].length(), kLines);
  EXPECT_EQ(parsed.columns[10].null_count(), kLines);
}

TEST(VcfColumns, FloatsAreTheNearestOnes) {
  const char* texts[] = {"0.1",
                         "16777216",
                         "16777217",
                         "0.3333333",
                         "123.4567",
                         "1e39",
                         "4e-46",
                         "8388609.5",
                         "1e-400",
                         "-1E-400",
                         "0.01e-330",
                         "12345.5e-500",
                         "1e-99999999999999999999",
                         "0e500"};
  for (const char* text : texts) {
    Parsed parsed = parse(std::string("1\t1\t.\tA\tC\t.\t.\tAF=") + text + "\tGT\t.\t.\n");
    ASSERT_TRUE(parsed.status.is_ok()) << text;
    EXPECT_EQ(parsed.columns[8].values().as<float>()[0], std::strtof(text, nullptr)) << text;
  }
}

TEST(VcfColumns, FloatsBeyondAllRangesAreRefused) {
  const std::string zeros(400, '0');
  for (const std::string& text :
       std::vector<std::string>{"1e400", "-1e400", "1" + zeros, "0.0001e400", "0." + zeros + "1e900"}) {
    const Parsed parsed = parse("1\t1\t.\tA\tC\t.\t.\tAF=" + text + "\tGT\t.\t.\n");
    EXPECT_EQ(parsed.status.code(), ErrorCode::kTypeMismatch) << text;
  }
  Parsed parsed = parse("1\t1\t.\tA\tC\t0." + zeros + "1\t.\tAF=0." + zeros + "1\tGT\t.\t.\n");
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  EXPECT_EQ(parsed.columns[5].values().as<float>()[0], 0);
  EXPECT_EQ(parsed.columns[8].values().as<float>()[0], 0);
}

TEST(VcfColumns, NumbersOfAnyLengthStandAnywhere) {
  // Digits and points in all lengths, at all distances from the text's end and from blocks of 64 bytes.
  const char digits[] = "0123456789.";
  uint32_t state = 1;
  for (int round = 0; round < 3000; ++round) {
    const auto next = [&](uint32_t most) { return ((state = state * 1664525 + 1013904223) >> 16) % most; };
    std::string number, integer;
    for (uint32_t i = 0; i <= next(11); ++i) number += digits[next(i % 3 == 0 ? 11 : 10)];
    for (uint32_t i = 0; i <= next(9); ++i) integer += digits[next(10)];
    if (std::count(number.begin(), number.end(), '.') > 1 || number == ".") continue;
    std::string lines;
    lines += "1\t" + integer + "\t" + std::string(next(70) + 1, 'i') + "\tA\tC,G\t" + number + "\tPASS;x\t";
    lines += "DP=" + integer + ";AF=" + number + "," + number + "\tGT\t0\t1";
    const std::string last = "\n2\t" + integer + "\t.\tA\tC\t" + number + "\t.\tAF=" + number;
    ColumnChoice choice;
    choice.no_samples = true;
    const Parsed parsed = parse(lines + last, choice);
    ASSERT_TRUE(parsed.status.is_ok()) << lines << parsed.status.message();
    ASSERT_EQ(parsed.columns[0].length(), 3);
    for (int64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(parsed.columns[1].values().as<int32_t>()[row], std::stol(integer));
      EXPECT_EQ(parsed.columns[5].values().as<float>()[row], std::strtof(number.c_str(), nullptr)) << number;
      EXPECT_EQ(parsed.columns[8].values().as<float>()[row], std::strtof(number.c_str(), nullptr)) << number;
    }
    EXPECT_EQ(parsed.columns[7].values().as<int32_t>()[1], std::stol(integer));
    EXPECT_EQ(text_at(parsed.columns[6], 1), "PASS;x");
  }
}

TEST(VcfColumns, FieldsOfInfoComeInAnyOrder) {
  const std::string begin = "1\t10\t.\tA\tC\t.\tPASS\t";
  const char* infos[] = {"DP=1;AF=2",    "DP=1;AF=2",      "AF=2;DP=1", "DP=1;;AF=2;",
                         ";AF=2;DP=1\r", "AF=2;DP=9;DP=1", "DP=1;AF=2"};
  std::string lines = "\n\r\n";
  for (const char* info : infos) lines += begin + info + "\n";
  ColumnChoice choice;
  choice.no_samples = true;
  const Parsed parsed = parse(lines + begin + "DP=1;AF=2", choice);
  ASSERT_TRUE(parsed.status.is_ok()) << parsed.status.message();
  EXPECT_EQ(texts_of(parsed.columns[7]), "1 1 1 1 1 1 1 1 ");
  for (int64_t row = 0; row < 8; ++row) EXPECT_EQ(parsed.columns[8].values().as<float>()[row], 2);
}

/// Values wait for a tile of rows: an error in a later line, or in an earlier column, may be found before.
TEST(VcfColumns, TheFirstLineWithAnErrorIsNamed) {
  const auto line = [](const char* position, const char* info) {
    return std::string("1\t") + position + "\t.\tA\tC\t.\tPASS\t" + info + "\tGT\t0\t1\n";
  };
  const std::string good = line("10", "DP=7;AF=0.5");
  for (const int before : {0, 1, 126, 127, 128, 300}) {
    std::string lines;
    for (int i = 0; i < before; ++i) lines += good;
    for (const std::string& later :
         {line("x", "DP=7"), line("10", "DP=y"), std::string("1\t10\n"), line("1", "NO=1")}) {
      const Parsed parsed = parse(lines + line("10", "DP=7;AF=z") + good + later + good);
      EXPECT_FALSE(parsed.status.is_ok());
      EXPECT_EQ(parsed.line, before + 1) << later;
      EXPECT_NE(parsed.status.message().find("\"z\""), std::string::npos) << parsed.status.message();
    }
  }
}

TEST(VcfColumns, ErrorsNameTheLine) {
  const std::string good = "1\t10\t.\tA\tC\t.\tPASS\tDP=7\tGT\t0\t1\n";
  const char* bad[] = {"1\t10\t.\tA\tC\t.\tPASS\tDP=x\tGT\t0\t1\n",
                       "1\t10\n",
                       "1\tx\t.\tA\tC\t.\tPASS\t.\tGT\t0\t1\n",
                       "1\t10\t.\tA\tC\t.\tPASS\tNO=1\tGT\t0\t1\n",
                       "1\t10\t.\tA\tC\t.\tPASS\t.\tGT\t0\n",
                       "1\t10\t.\tA\tC\t.\tPASS\t.\tGT\t0\t1\t2\n",
                       "1\t10\t.\tA\tC\t.\tPASS\t.\n",
                       "1\t10\t.\tA\tC\t.\tPASS\t.\tNO\t0\t1\n",
                       "1\t10\t.\t\xff\tC\t.\tPASS\t.\tGT\t0\t1\n"};
  for (const char* line : bad) {
    Parsed parsed = parse(good + good + line + good);
    EXPECT_FALSE(parsed.status.is_ok()) << line;
    EXPECT_EQ(parsed.line, 3) << line;
  }
}

}  // namespace
}  // namespace strom::format::vcf
